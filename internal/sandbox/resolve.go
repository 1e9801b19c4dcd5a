package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// mostLinks bounds how many links one path may pass, as kernels do.
const mostLinks = 40

// resolve gives a path's real place and the links on the way. A missing path is fs.ErrNotExist.
func resolve(path string) (real string, links []Link, err error) {
	rest := strings.Split(strings.TrimPrefix(filepath.Clean(path), "/"), "/")
	real = "/"
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", links, err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			real = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", links, err
		}
		if links = append(links, Link{Path: next, Target: target}); len(links) > mostLinks {
			return "", links, errors.New(path + ": too many symbolic links")
		}
		rest = append(strings.Split(target, "/"), rest...)
		if filepath.IsAbs(target) {
			real = "/"
		}
	}
	return real, links, nil
}

// builder collects the rules of one policy.
type builder struct {
	policy Policy
	linked map[string]bool
	err    error
}

// add takes a path that exists, and leaves out one that does not.
func (b *builder) add(access Access, paths ...string) {
	for _, path := range paths {
		b.rule(Rule{Path: path, Access: access})
	}
}

// demand is add for paths that the turn cannot do without.
func (b *builder) demand(access Access, paths ...string) {
	for _, path := range paths {
		if _, _, err := resolve(path); err != nil && b.err == nil {
			b.err = err
		}
		b.add(access, path)
	}
}

func (b *builder) rule(r Rule) {
	if !filepath.IsAbs(r.Path) {
		return
	}
	real, links, err := resolve(r.Path)
	if err != nil || real == "/" {
		return
	}
	info, err := os.Lstat(real)
	if err != nil {
		return
	}
	r.Path, r.File = real, !info.IsDir()
	b.policy.Rules = append(b.policy.Rules, r)
	for _, l := range links {
		if !b.linked[l.Path] {
			b.linked[l.Path] = true
			b.policy.Links = append(b.policy.Links, l)
		}
	}
}
