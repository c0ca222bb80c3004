package main

import (
	"strconv"

	"github.com/weirlimit/weir/internal/policyfile"
)

// applyPeer reads how envoyproxy/ratelimit's variables have files read.
func (f *loadingFlags) applyPeer(e *peerEnv) error {
	dotFilesIgnored := true
	merge := false
	if err := e.switches([]peerSwitch{
		{"SHADOW_MODE", &f.shadow},
		{"QUOTA_MODE", &f.quota},
		{"RUNTIME_IGNOREDOTFILES", &dotFilesIgnored},
		{"MERGE_DOMAIN_CONFIG", &merge},
	}); err != nil {
		return err
	}
	f.dotFiles = !dotFilesIgnored
	if v, _ := e.lookup("MERGE_DOMAIN_CONFIG"); v == "" {
		return nil
	}
	return e.set("merge-domains", strconv.FormatBool(merge), "MERGE_DOMAIN_CONFIG")
}

// config makes --config the directory that those variables name.
func (e *peerEnv) config() error {
	root := e.get("RUNTIME_ROOT")
	if root == "" {
		return nil
	}
	dir := policyfile.RuntimeDir(root, e.get("RUNTIME_SUBDIRECTORY"), e.get("RUNTIME_APPDIRECTORY"))
	return e.set("config", dir, "RUNTIME_ROOT")
}
