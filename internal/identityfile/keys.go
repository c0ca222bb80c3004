package identityfile

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir/identity"
)

// maxKeyFile bounds a file of API keys: some 50,000 of them.
const maxKeyFile = 8 << 20

// ParseKeys reads a file of API keys.
//
//	keys:
//	  - id: acme-prod
//	    sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//	    tenant: acme
//	    plan: pro
//	    expires_at: 2027-01-31T00:00:00Z
func ParseKeys(name string, data []byte) (*identity.Keys, error) {
	r := &reader{file: name}
	root := r.document(data, maxKeyFile)
	if root == nil {
		return nil, r.err()
	}
	var list []identity.Key
	r.mapping(root, "the file", []field{{key: "keys", must: true, example: "[]", read: func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			r.wrong(n, "write a list, which may be empty: keys: []", "keys is not a list")
			return
		}
		list = make([]identity.Key, 0, len(n.Content))
		for _, item := range n.Content {
			if r.full() {
				return
			}
			list = append(list, r.key(item))
		}
	}}})
	if err := r.err(); err != nil {
		return nil, err
	}
	keys, err := identity.NewKeys(list)
	r.refuse(root, err)
	return keys, r.err()
}

func (r *reader) key(n *yaml.Node) (k identity.Key) {
	var digest string
	r.mapping(n, "a key", []field{
		{key: "id", must: true, example: "acme-prod", read: r.text(&k.ID)},
		{key: "sha256", must: true, read: func(n *yaml.Node) { r.digest(n, &digest, &k) }},
		{key: "tenant", must: true, example: "acme", read: r.text(&k.Tenant)},
		{key: "user", read: r.text(&k.User)},
		{key: "plan", read: r.text(&k.Plan)},
		{key: "disabled", read: r.truth(&k.Disabled)},
		{key: "expires_at", read: func(n *yaml.Node) {
			at, err := time.Parse(time.RFC3339, n.Value)
			if n.Kind != yaml.ScalarNode || err != nil {
				r.wrongValue(n, "for example 2027-01-31T00:00:00Z", "want an instant")
			}
			k.ExpiresAt = at
		}},
	})
	return k
}

// digest reads a SHA-256. What is no digest may be the key itself, written here
// by mistake: it is not repeated.
func (r *reader) digest(n *yaml.Node, text *string, k *identity.Key) {
	r.text(text)(n)
	sum, err := hex.DecodeString(*text)
	if err != nil || len(sum) != sha256.Size {
		r.wrongValue(n, "weir apikey digest makes it of a key", "want the 64 hexadecimal digits of a SHA-256")
		return
	}
	k.Digest = [sha256.Size]byte(sum)
}
