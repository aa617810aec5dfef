-- Reads only: how long ago the oldest bundles were queued that somebody wants, by model. Leases that ran out wait; what is
-- parked waits, too. As many entries are looked at of each lane as are not wanted any more, within a bound.
-- ARGV: lease in ms, then for each model: id, its lanes ..., ''
-- Returns {ms of the oldest that waits, ms of the oldest that is held} for each model, -1 where there is none.
local CHUNK, BOUND, PENDING = 50, 1000, 100
local lease_ms, at = tonumber(ARGV[1]), math.floor(tonumber(now()) / 1000)

local function age_of(entry)
  local f = fields_of(entry)
  local status = call('HGET', key('job', f.job), 'status')
  if not status or FINAL[status] or status == 'cancelling' or not entry_state(f) then return -1 end
  return math.max(0, at - tonumber(f.queued or string.match(entry[1], '^%d+')))
end

local function oldest_unread(lane)
  local after, seen, group = '0-0', 0, call('XINFO', 'GROUPS', lane)[1]
  for i = 1, #group, 2 do
    if group[i] == 'last-delivered-id' then after = group[i + 1] end
  end
  repeat
    local entries = call('XRANGE', lane, '(' .. after, '+', 'COUNT', CHUNK)
    for _, entry in ipairs(entries) do
      local age = age_of(entry)
      if age >= 0 then return age end
      after = entry[1]
    end
    seen = seen + #entries
  until #entries < CHUNK or seen >= BOUND
  return -1
end

local function oldest_pending(lane)
  local waiting, held = -1, -1
  for _, p in ipairs(call('XPENDING', lane, GROUP, '-', '+', PENDING)) do
    local entry = call('XRANGE', lane, p[1], p[1])[1]
    local age = entry and age_of(entry) or -1
    if p[3] >= lease_ms or string.match(p[2], '^for:') then
      waiting = math.max(waiting, age)
    else
      held = math.max(held, age)
    end
  end
  return waiting, held
end

local ages, i = {}, 2
while i <= #ARGV do
  local waiting, held = -1, -1
  i = i + 1
  while ARGV[i] ~= '' do
    local pending, leased = oldest_pending(ARGV[i])
    waiting, held = math.max(waiting, pending, oldest_unread(ARGV[i])), math.max(held, leased)
    i = i + 1
  end
  ages[#ages + 1] = {waiting, held}
  i = i + 1
end
return ages
