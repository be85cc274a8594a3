;; What a user does in Emacs, by the commands that docs/editors.md names.  What is seen goes to $SEEN.
(require 'cl-lib)
(require 'eglot)
(require 'json)

(defvar seen nil)

(defun wait-for (what condition)
  "Let Emacs take messages until CONDITION returns something, which is returned."
  (let ((end (+ (float-time) 120)) found)
    (while (not (setq found (funcall condition)))
      (when (> (float-time) end) (error "%s did not come" what))
      (accept-process-output nil 0.05))
    found))

(defun see (key value) (setf (alist-get key seen) value))

(defun choose-fix (_prompt titles &rest _)
  "Choose a fix in the place of the user."
  (let ((titles (mapcar (lambda (item) (if (consp item) (car item) item)) titles)))
    (see 'actions (vconcat titles))
    (or (cl-find-if (lambda (title) (string-prefix-p "Fix: " title)) titles) (signal 'quit nil))))

(defun scenario ()
  (find-file "program.py")
  (let ((eglot-sync-connect t)) ; waits for the server, however busy the machine is
    (call-interactively #'eglot))
  (fullgraph-run)
  (wait-for "diagnostics" (lambda () (flymake-start) (flymake-diagnostics)))
  (see 'messages (vconcat (mapcar #'flymake-diagnostic-text (flymake-diagnostics))))

  (goto-char (point-min))
  (search-forward "_dynamo")
  (let (hover)
    (wait-for "the hover" ; there is none before the run is over
              (lambda ()
                (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover text)))
                (accept-process-output nil 0.5)
                hover))
    (see 'hover (substring-no-properties hover)))

  (fullgraph-try-fixes)
  (let ((before (buffer-string)))
    (wait-for "a fix"
              (lambda ()
                (cl-letf (((symbol-function 'completing-read) #'choose-fix)
                          (last-nonmenu-event ?x)) ; a key, and no click of a mouse
                  (condition-case nil (eglot-code-actions (point) nil nil t) ((quit error) nil)))
                (not (equal before (buffer-string))))))
  (see 'fixed (vconcat (split-string (buffer-string) "\n")))
  (set-buffer-modified-p nil)

  (find-file "endless.py")
  (wait-for "the server" #'eglot-current-server)
  (fullgraph-run)
  (let ((pid (wait-for "the endless run"
                       (lambda ()
                         (and (file-exists-p "pid")
                              (with-temp-buffer
                                (insert-file-contents "pid")
                                (and (> (buffer-size) 0) (string-to-number (buffer-string)))))))))
    (cl-assert (process-attributes pid))
    (fullgraph-stop)
    (wait-for "the end of the run" (lambda () (not (process-attributes pid)))))
  (see 'stopped t)
  (eglot-shutdown (eglot-current-server)))

(condition-case problem (scenario) (error (see 'problem (format "%S" problem))))
(with-temp-file (getenv "SEEN") (insert (json-encode seen)))
