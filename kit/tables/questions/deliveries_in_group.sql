-- One row if a group's ledgers have this copy (`copy`, an offset id): line.
select line from group_deliveries where `group` = :group and offset_msg_id = :copy order by line limit 1
