package doctor

import (
	"fmt"
	"time"
)

// persistence judges what saving costs: Redis decides nothing while it waits
// for a disk or copies its page tables.
func (j *judge) persistence() {
	n := j.node
	appendOnly, ok := n.setting("appendonly")
	if !ok {
		j.blind(CheckPersistence, "appendonly", info)
		return
	}
	before := len(j.found)
	if appendOnly == "yes" {
		j.appendOnly()
	}
	if n.Info["rdb_last_bgsave_status"] == "err" {
		j.lastSaveFailed()
	}
	if us, _ := n.info("latest_fork_usec"); time.Duration(us)*time.Microsecond > j.facts.Deadline {
		j.addf(CheckPersistence, Warn, `save less often, or not at all (CONFIG SET save ""); vm.overcommit_memory 1 and no transparent huge pages make forks cheaper`,
			"the last fork took %s: every decision waited, and has %s", roundText(time.Duration(us)*time.Microsecond), j.facts.Deadline)
	}
	if n.Info["loading"] == "1" {
		j.add(CheckPersistence, Fail, "is loading its data: nothing is decided until that ends", "wait, and run weir doctor again")
	}
	if len(j.found) == before {
		j.add(CheckPersistence, OK, j.persistenceText(appendOnly), "")
	}
}

func (j *judge) appendOnly() {
	n := j.node
	switch fsync, ok := n.Config["appendfsync"]; {
	case !ok:
		j.blind(CheckPersistence, "appendfsync", configGet)
	case fsync == "always":
		j.add(CheckPersistence, Fail, "appendfsync is always: every decision waits for the disk", j.set("appendfsync", "everysec"))
	}
	if n.Info["aof_last_write_status"] == "err" {
		j.add(CheckPersistence, Fail, "the last write to the append-only file failed: writes are refused", "free the disk, or CONFIG SET appendonly no")
	}
	if n.Info["aof_last_bgrewrite_status"] == "err" {
		j.add(CheckPersistence, Warn, "the last rewrite of the append-only file failed: it grows", "see the server's log, then BGREWRITEAOF")
	}
	if late, _ := n.info("aof_delayed_fsync"); late > 0 {
		j.addf(CheckPersistence, Warn, "a faster disk, or CONFIG SET appendonly no",
			"the disk was too slow for the append-only file %d times: decisions waited", late)
	}
}

// lastSaveFailed: Redis then refuses writes, unless it is told not to care or
// is not told to save.
func (j *judge) lastSaveFailed() {
	save, known := j.node.Config["save"]
	stops := j.node.Config["stop-writes-on-bgsave-error"] != "no" && (!known || save != "")
	if stops {
		j.add(CheckPersistence, Fail, "the last snapshot failed: writes are refused",
			`free the disk and memory (see the server's log), or CONFIG SET save ""`)
		return
	}
	j.add(CheckPersistence, Warn, "the last snapshot failed", "free the disk and memory: see the server's log")
}

func (j *judge) persistenceText(appendOnly string) string {
	n := j.node
	text := "no append-only file"
	if appendOnly == "yes" {
		text = "append-only file, appendfsync " + n.Config["appendfsync"]
	}
	if save, ok := n.Config["save"]; ok {
		if save == "" {
			text += ", no snapshots"
		} else {
			text += ", snapshots"
		}
	}
	if n.Info["aof_rewrite_in_progress"] == "1" || n.Info["rdb_bgsave_in_progress"] == "1" {
		text += ", one is being written"
	}
	if us, ok := n.info("latest_fork_usec"); ok && us > 0 {
		text += fmt.Sprintf(", last fork %s", roundText(time.Duration(us)*time.Microsecond))
	}
	return text
}
