"""The site: static pages that need no other file; they open from a disk and from any host."""

from benchmark.leaderboard.site.build import build, write_site
