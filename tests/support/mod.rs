//! The harness of the tests from outside: worlds, servers, panes.
