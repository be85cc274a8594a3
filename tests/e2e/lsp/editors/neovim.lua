-- What a user does in Neovim, by the keys and commands that docs/editors.md names. What is seen goes to $SEEN.
local seen = {}

local function wait(what, condition)
  assert(vim.wait(120000, condition, 20), what .. ' did not come')
end

local function messages()
  return vim.tbl_map(function(item) return item.message end, vim.diagnostic.get(0))
end

local function alive(pid)
  return vim.loop.kill(pid, 0) == 0
end

local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
    end
  end
end

-- One in the place of the list in which the user chooses.
vim.ui.select = function(items, options, chosen)
  seen.actions = vim.tbl_map(options.format_item, items)
  for index, title in ipairs(seen.actions) do
    if title:find('^Fix: ') then
      return chosen(items[index], index)
    end
  end
  chosen(nil)
end

local function scenario()
  vim.cmd('edit program.py')
  local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
  wait('the server', function() return #clients() > 0 end)
  vim.cmd('FullgraphRun')
  wait('diagnostics', function() return #messages() > 0 end)
  seen.messages = messages()

  vim.api.nvim_win_set_cursor(0, { 7, 8 })
  wait('the hover', function() -- there is none before the run is over
    vim.lsp.buf.hover()
    return vim.wait(500, floating, 20)
  end)
  seen.hover = floating()
  vim.cmd('only')

  vim.cmd('FullgraphTryFixes')
  local before = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  wait('a fix', function()
    vim.lsp.buf.code_action()
    return vim.wait(2000, function()
      return not vim.deep_equal(before, vim.api.nvim_buf_get_lines(0, 0, -1, false))
    end, 20)
  end)
  seen.fixed = vim.api.nvim_buf_get_lines(0, 0, -1, false)

  vim.cmd('edit! endless.py')
  vim.cmd('FullgraphRun')
  wait('the endless run', function() return vim.fn.getfsize('pid') > 0 end)
  local pid = tonumber(vim.fn.readfile('pid')[1])
  assert(alive(pid))
  vim.cmd('FullgraphStop')
  wait('the end of the run', function() return not alive(pid) end)
  seen.stopped = true
end

local done, problem = xpcall(scenario, debug.traceback)
seen.problem = not done and problem or nil
vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.SEEN)
vim.cmd('qall!')
