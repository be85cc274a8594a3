"""What an editor shows, a feature a file: each only projects finished reports onto documents."""
