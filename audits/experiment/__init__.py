"""The experiment behind an audit: trials with fair coins, views, stored chunks, worker processes, neighbours."""
