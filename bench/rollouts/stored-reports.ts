import type pg from 'pg';

/** What an agent reported about a VM's extensions, as the portal stores it. */
export interface StoredReport {
  vmId: string;
  health: 'healthy' | 'failed' | 'progressing';
}

/** Stores that agents fetched their goal states, as the gateway does. */
export async function storeDeliveries(client: pg.Pool, vmIds: readonly string[], at: Date): Promise<void> {
  if (vmIds.length === 0) return;
  await client.query(
    `update goal_state_heads set delivered_incarnation = incarnation, delivered_at = $2
      where vm_id = any($1::uuid[]) and delivered_incarnation < incarnation`,
    [vmIds, at],
  );
  await storeEvaluated(client, vmIds);
}

/** Stores that the health of VMs was evaluated since the last change, and is not due again soon. */
async function storeEvaluated(client: pg.Pool, vmIds: readonly string[]): Promise<void> {
  await client.query(`update health_checks set due_at = now() + interval '10 years' where vm_id = any($1::uuid[])`, [
    vmIds,
  ]);
}

/**
 * Stores the health of extensions of one name at their declared sequence numbers, and of their VMs, as the worker does
 * after reports.
 */
export async function storeHealth(
  client: pg.Pool,
  extension: string,
  reports: readonly StoredReport[],
  at: Date,
): Promise<void> {
  if (reports.length === 0) return;
  const values = [reports.map(({ vmId }) => vmId), reports.map(({ health }) => health), at];
  await client.query(
    `update extension_health h set sequence_number = e.sequence_number, health = r.health, since = $3,
       goal_version = e.version, version = e.version,
       cause = case when r.health = 'failed' then 'status' end
      from unnest($1::uuid[], $2::text[]) as r(vm_id, health) join extensions e on e.vm_id = r.vm_id and e.name = $4
     where h.vm_id = r.vm_id and h.name = $4`,
    [...values, extension],
  );
  await client.query(
    `update vm_health h set health = r.health, since = $3,
       rank = case r.health when 'failed' then 0 when 'healthy' then 5 else 3 end
      from unnest($1::uuid[], $2::text[]) as r(vm_id, health)
     where h.vm_id = r.vm_id and h.health <> r.health`,
    values,
  );
  await storeEvaluated(
    client,
    reports.map(({ vmId }) => vmId),
  );
}

/** Makes every VM of a fleet healthy and its agent punctual for years, whatever the clock of the run says. */
export async function storeHealthyFleet(client: pg.Pool): Promise<void> {
  await client.query(`update extension_health set health = 'healthy', cause = null where health <> 'healthy'`);
  await client.query(`update vm_health set health = 'healthy', rank = 5, agent = 'ready'`);
  await client.query(`update agent_presence set next_expected_at = now() + interval '10 years'`);
  await client.query(`update health_checks set due_at = now() + interval '10 years'`);
}

/** Stores the history that a new fleet lacks: its first goal states, to which a recall goes back. */
export async function storeFirstGoals(client: pg.Pool): Promise<void> {
  await client.query(
    `insert into goal_states (vm_id, incarnation, etag, text, contents, cause, published_at, published_by)
     select h.vm_id, h.incarnation, h.etag, h.text, (
         select json_agg(json_build_object('name', e.name, 'handler', e.handler, 'version', e.version,
           'requestedVersion', e.requested_version, 'state', e.state, 'dependsOn', e.depends_on,
           'autoUpgradeMinorVersion', e.auto_upgrade_minor_version, 'timeouts', e.timeouts, 'secretId', e.secret_id,
           'publicSettings', e.public_settings, 'sequenceNumber', e.sequence_number) order by e.name)
         from extensions e where e.vm_id = h.vm_id),
       '{"action":"extension.set"}', h.published_at, 'Bench'
     from goal_state_heads h on conflict do nothing`,
  );
}
