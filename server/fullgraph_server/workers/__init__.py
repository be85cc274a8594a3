"""Python processes that run user code: interpreters, environments, fork servers, pools of warm workers."""
