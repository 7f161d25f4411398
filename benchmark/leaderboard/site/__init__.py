"""The site: static pages, each whole in itself, that open from a disk and from any host."""

from benchmark.leaderboard.site.build import build, write_site
