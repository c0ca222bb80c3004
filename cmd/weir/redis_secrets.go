package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/weirlimit/weir/redisstore"
)

// The credentials of Redis have no flag: see the package comment.
const (
	envRedisUser         = "WEIR_REDIS_USER"
	envRedisPassword     = "WEIR_REDIS_PASSWORD"
	envRedisPasswordFile = "WEIR_REDIS_PASSWORD_FILE"

	envSentinelUser         = "WEIR_REDIS_SENTINEL_USER"
	envSentinelPassword     = "WEIR_REDIS_SENTINEL_PASSWORD"
	envSentinelPasswordFile = "WEIR_REDIS_SENTINEL_PASSWORD_FILE"
)

const passwordHint = "set " + envRedisPassword + " or " + envRedisPasswordFile +
	", and " + envRedisUser + " for an ACL user"

// secretNames are the variables of one kind of credentials.
type secretNames struct {
	user, password, file string
	peer                 string // envoyproxy/ratelimit's: a password or USER:PASSWORD
}

var (
	redisSecrets    = secretNames{envRedisUser, envRedisPassword, envRedisPasswordFile, "REDIS_AUTH"}
	sentinelSecrets = secretNames{envSentinelUser, envSentinelPassword, envSentinelPasswordFile, "REDIS_SENTINEL_AUTH"}
)

// credentials reads the environment; a password file is read again for every
// connection, so that a rotated password is picked up.
func (n secretNames) credentials(lookup func(string) (string, bool)) (redisstore.Credentials, error) {
	user, _ := lookup(n.user)
	password, _ := lookup(n.password)
	file, _ := lookup(n.file)
	switch {
	case password != "" && file != "":
		return nil, usage("unset one of them", "%s and %s are both set", n.password, n.file)
	case file != "":
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%s: %w", n.file, err)
		}
		return redisstore.PasswordFile(user, file), nil
	case password != "" || user != "":
		return redisstore.Password(user, password), nil
	}
	return nil, nil
}

// peerPassword lets REDIS_AUTH and REDIS_SENTINEL_AUTH be the credentials where
// no WEIR_ variable is.
func peerPassword(lookup func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, n := range []secretNames{redisSecrets, sentinelSecrets} {
			if v, ok := n.peerValue(name, lookup); ok {
				return v, true
			}
		}
		return lookup(name)
	}
}

// peerValue is what the other program's variable says about one of ours, if
// none of ours is set.
func (n secretNames) peerValue(name string, lookup func(string) (string, bool)) (string, bool) {
	if name != n.user && name != n.password {
		return "", false
	}
	for _, own := range []string{n.user, n.password, n.file} {
		if v, _ := lookup(own); v != "" {
			return "", false
		}
	}
	auth, _ := lookup(n.peer)
	user, password, both := strings.Cut(auth, ":")
	if !both {
		user, password = "", auth
	}
	if name == n.user {
		return user, user != ""
	}
	return password, password != ""
}
