//! Starts `fullgraph lsp` for Python files.

use zed_extension_api::{
    self as zed, serde_json, settings::LspSettings, LanguageServerId, Result, Worktree,
};

struct Fullgraph;

impl zed::Extension for Fullgraph {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<zed::Command> {
        let command = worktree
            .which("fullgraph")
            .ok_or("There is no fullgraph on PATH: install it, for instance with pipx.")?;
        Ok(zed::Command {
            command,
            args: vec!["lsp".into()],
            env: worktree.shell_env(),
        })
    }

    /// The settings below `lsp.fullgraph.settings`, as the section that the server asks for.
    fn language_server_workspace_configuration(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(id.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| serde_json::json!({ "fullgraph": settings })))
    }
}

zed::register_extension!(Fullgraph);
