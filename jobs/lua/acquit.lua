-- Atomic: the suspect of a bundle is cleared, and the attempts of the bundle on probation count from here again.
-- ARGV: worker, lane, entry, job id, bundle id
call('HDEL', key('suspects', ARGV[4]), ARGV[5])
call('XCLAIM', ARGV[2], GROUP, ARGV[1], 0, ARGV[3], 'IDLE', 0, 'RETRYCOUNT', 1, 'JUSTID')
