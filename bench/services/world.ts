import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { readMetadata } from '#protocol/formula.ts';
import { newUnitRecord } from '#protocol/unit-record.ts';
import { addRelation } from '#server/domain/services/relations/add-relation.ts';
import { flush } from '#server/domain/services/relations/flush.ts';
import { joinUnits } from '#server/domain/services/relations/move-units.ts';
import { createModel, setStorageAccount } from '#server/domain/topology/index.ts';
import { type BenchServices, systemContext } from '../executions/bench-plan.ts';

/** A unit of the bench. */
export interface BenchUnit {
  id: string;
  vmId: string;
  name: string;
}

const model = 'bench';
const version = '1.0.0.0';

/** A model whose services and units are rows, on VMs of the bench's fleet. */
export class World {
  readonly services: BenchServices;
  readonly modelId: string;
  readonly client: pg.Pool;
  #interfaces = 0;

  private constructor(services: BenchServices, modelId: string) {
    this.services = services;
    this.modelId = modelId;
    this.client = services.db.$client;
  }

  static async create(services: BenchServices): Promise<World> {
    const ctx = systemContext(services);
    await setStorageAccount(ctx, { name: 'benchstore', location: 'Bench' });
    await createModel(ctx, { name: model, location: 'Bench', storageAccount: 'benchstore' });
    const { rows } = await services.db.$client.query<{ id: string }>('select id from models where name = $1', [model]);
    return new World(services, rows[0]?.id ?? '');
  }

  /** Creates two services that are related `relations` times, with these units in each relation. */
  async related(
    name: string,
    units: { providers: readonly string[]; requirers: readonly string[] },
    relations = 1,
  ): Promise<{ providers: BenchUnit[]; requirers: BenchUnit[]; relations: number[] }> {
    const names = Array.from({ length: relations }, () => `i${(this.#interfaces++).toString(36)}x`);
    const endpoints = (limit?: number) =>
      Object.fromEntries(names.map((each) => [each, { interface: each, ...(limit && { limit }) }]));
    const [a, b] = [`${name}-a`, `${name}-b`];
    const provider = await this.#service(a, { provides: endpoints() });
    const requirer = await this.#service(b, { requires: endpoints(1) });
    const ids: number[] = [];
    for (const each of names) {
      const { id } = await addRelation(systemContext(this.services), {
        model,
        endpoints: [`${a}:${each}`, `${b}:${each}`],
      });
      ids.push(id);
    }
    const providers = await this.#units(a, provider, units.providers);
    const requirers = await this.#units(b, requirer, units.requirers);
    for (const relationId of ids) {
      const entering = [
        ...providers.map(({ id }) => ({ relationId, unitId: id, side: 'provides' as const })),
        ...requirers.map(({ id }) => ({ relationId, unitId: id, side: 'requires' as const })),
      ];
      await this.services.db.transaction((tx) => joinUnits(tx, systemContext(this.services), entering, null));
    }
    return { providers, requirers, relations: ids };
  }

  /** Begins a run of a hook, and returns the milliseconds of the transaction that ends it with one changed key. */
  async flushMs(unit: BenchUnit, relation: number, value: number): Promise<number> {
    const run = randomUUID();
    await this.client.query(
      `insert into hook_runs (vm_id, id, unit_id, number, hook, attempt, formula_version, begun_at, timeout_seconds, outcome)
       select $1, $2, $3, 1 + count(*), 'config-changed', 1, $4, now(), 300, 'running' from hook_runs where unit_id = $3`,
      [unit.vmId, run, unit.id, version],
    );
    const changes = [{ relation, set: { key: String(value) }, remove: [] }];
    const end = { exitCode: 0, signal: null, seconds: 0.1, views: [], reason: null, changes };
    const input = { vmId: unit.vmId, unitId: unit.id, runId: run, outcome: 'succeeded' as const, end };
    const began = performance.now();
    await this.services.db.transaction((tx) => flush(tx, systemContext(this.services), input));
    return performance.now() - began;
  }

  async #service(name: string, endpoints: object): Promise<string> {
    const handler = `Meridian.Platform.${name}`;
    const read = readMetadata({ name, ...endpoints });
    if ('faults' in read) throw new Error(JSON.stringify(read.faults));
    const manifest = JSON.stringify({ ...read.metadata, hooks: [] });
    await this.client.query(
      `insert into handlers (id, namespace, type, kind, created_at) values ($1, 'Meridian.Platform', $2, 'formula', now())`,
      [handler, name],
    );
    await this.client.query(
      `insert into handler_versions (handler, version, version_key, state, sha256, size, manifest, manifest_text, files,
         warnings, created_at, created_by) values ($1, $2, '0001', 'published', $3, 1, $4, '', '[]', '[]', now(), 'bench')`,
      [handler, version, '0'.repeat(64), manifest],
    );
    const id = randomUUID();
    await this.client.query(
      `insert into services (id, model_id, name, life, formula, formula_version, settings_version, exposed, created_at,
         created_by) values ($1, $2, $3, 'alive', $4, $5, 1, false, now(), 'bench')`,
      [id, this.modelId, name, handler, version],
    );
    await this.client.query(
      `insert into service_settings (service_id, version, given, effective, formula_version, changed_at, changed_by)
       values ($1, 1, '{}', '{}', $2, now(), 'bench')`,
      [id, version],
    );
    return id;
  }

  async #units(service: string, serviceId: string, vmIds: readonly string[]): Promise<BenchUnit[]> {
    const { rows } = await this.client.query<BenchUnit>(
      `with added as (
         insert into units (id, model_id, service_id, name, number, vm_id, life, turn, formula_version, settings_version,
           record, agent_since, entered_at, created_at, created_by)
         select gen_random_uuid(), $1, $2, $3 || '/' || (n - 1), n - 1, vm, 'alive', 1, $4, 1, $5, now(), now(), now(), 'bench'
           from unnest($6::uuid[]) with ordinality t(vm, n)
         returning id, vm_id as "vmId", name, number
       ), heads as (
         insert into unit_heads (vm_id, revision, moved_at) select distinct "vmId", 1, now() from added
         on conflict (vm_id) do update set revision = unit_heads.revision + 1, moved_at = now()
       ) select id, "vmId", name from added order by number`,
      [this.modelId, serviceId, service, version, JSON.stringify(newUnitRecord()), vmIds],
    );
    return rows;
  }
}
