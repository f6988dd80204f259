-- One row per log entry that shows a look-up by id, a command of mqadmin, or a failed connection of a tool. tools/command/message; queryMsgByUniqueKey
-- tries its id as an offset id first, says so and goes on (tools/admin/DefaultMQAdminExtImpl.viewMessage): that is no failure.
with outputs as (
  select distinct file, line from events
  where event in ('lookup-command', 'lookup-failed', 'lookup-found', 'query-no-message', 'mqadmin-command')
    or (event = 'client-connect-failed' and source in ('mqadmin', 'text'))
)
select e.file, e.line, e.message, e.trace
from outputs s join entries e on s.file = e.file and s.line = e.line
where not contains(coalesce(e.message, ''), 'the msgId maybe created by new client')
order by e.file, e.line limit 5000
