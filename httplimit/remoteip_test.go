package httplimit

import "testing"

func TestRemoteIP(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"192.0.2.1:1234", "192.0.2.1"},
		{"255.255.255.255:1", "255.255.255.255"},
		{"[2001:db8:1:2:3:4:5:6]:80", "2001:db8:1:2::/64"},
		{"[2001:db8:1:2:ffff::]:80", "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:80", "fe80::/64"},
		{"[::ffff:192.0.2.1]:80", "192.0.2.1"},
		{"[::1]:80", "::/64"},
		{"", ""},
		{"@", ""},
		{"/run/weir.sock", ""},
		{"example.com:80", ""},
		{"192.0.2.1", ""},
	} {
		if have := remoteIP(tc.in); have != tc.want {
			t.Errorf("%q is %q, want %q", tc.in, have, tc.want)
		}
	}
}
