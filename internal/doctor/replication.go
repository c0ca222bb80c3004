package doctor

// replication judges what happens to a server's writes when its role, or the
// number of its replicas, changes.
func (j *judge) replication() {
	n := j.node
	before := len(j.found)
	if readOnly, ok := n.setting("replica-read-only"); ok && readOnly != "yes" {
		status := Fail
		if j.facts.Mode == Single && n.Role == "master" {
			status = Warn // nobody demotes it
		}
		j.add(CheckReplication, status, "replica-read-only is no: a primary that was demoted goes on deciding, apart from the new one",
			j.set("replica-read-only", "yes"))
	}
	if n.Role == "master" {
		j.minReplicas()
	}
	if len(j.found) > before {
		return
	}
	if n.Info == nil && n.Config == nil {
		j.blind(CheckReplication, "replica-read-only", configGet)
		return
	}
	count, ok := n.info("connected_slaves")
	switch {
	case n.Role != "master":
		j.add(CheckReplication, OK, "follows "+n.Info["master_host"]+":"+n.Info["master_port"], "")
	case !ok:
		j.add(CheckReplication, OK, "replica-read-only is yes", "")
	default:
		j.addf(CheckReplication, OK, "", "replicas connected: %d", count)
	}
}

// minReplicas: with too few replicas Redis refuses writes.
func (j *judge) minReplicas() {
	want, ok := j.node.number("min-replicas-to-write")
	if !ok || want == 0 {
		return
	}
	have, ok := j.node.info("min_slaves_good_slaves")
	if !ok {
		return
	}
	do := j.set("min-replicas-to-write", "0")
	switch {
	case have < want:
		j.addf(CheckReplication, Fail, do, "min-replicas-to-write is %d and %d are there: writes are refused", want, have)
	case have == want:
		j.addf(CheckReplication, Warn, do+", or add a replica",
			"min-replicas-to-write is %d and as many are there: the loss of one stops every decision", want)
	}
}
