import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { zipOf } from '#agent/testing/fake-handler.ts';
import type { Services } from '#server/domain/context.ts';
import { publishVersion } from '#server/domain/localization/index.ts';
import { receiveUpload, registerPackage } from '#server/domain/packages/index.ts';
import { addRelation, getDue, getRelationSettings, getService, setService } from '#server/domain/services/index.ts';
import { addMachine, bootstrapModel, createModel, setStorageAccount } from '#server/domain/topology/index.ts';
import { contextOf } from './goals.ts';
import { type HookRecord, judgeNodes } from './hook-records.ts';

const model = 'soak';
const version = '1.0.0.0';
const givers = { service: 'giver', formula: 'Acme.Soak.giver' };
const takers = { service: 'taker', formula: 'Acme.Soak.taker' };

/** A hook that takes a moment, sometimes fails, and then runs `script`. */
const hook = (script: string): string =>
  `#!/bin/sh\nset -eu\nsleep 0.1\n[ "$(od -An -N1 -tu1 /dev/urandom)" -gt 12 ] || exit 9\n${script}\n`;
/** Sets a value that no other run sets, and writes it down. What is written of an interrupted run is replaced. */
const give = `value="$(config-get n)-$ENSEMBLE_CLIENT_ID"
relation-set -r "$(cat "$ENSEMBLE_CONTAINER_PATH/relation")" "value=$value"
echo "$value" > "$ENSEMBLE_CONTAINER_PATH/written"`;

const formulas: Record<string, Record<string, string>> = {
  [givers.formula]: {
    'metadata.yaml': 'name: giver\nprovides: { out: { interface: soak } }\ntimeouts: { default: 30 }\n',
    'config.yaml': 'options: { n: { type: int, default: 0 } }\n',
    'hooks/install': hook('echo installed'),
    'hooks/config-changed': hook(`[ ! -e "$ENSEMBLE_CONTAINER_PATH/relation" ] || {\n${give}\n}`),
    'hooks/start': hook('echo started'),
    'hooks/out-relation-joined': hook(`echo "$ENSEMBLE_RELATION_ID" > "$ENSEMBLE_CONTAINER_PATH/relation"\n${give}`),
  },
  [takers.formula]: {
    'metadata.yaml': 'name: taker\nrequires: { in: { interface: soak } }\ntimeouts: { default: 30 }\n',
    'hooks/start': hook('mkdir -p "$ENSEMBLE_CONTAINER_PATH/seen"'),
    'hooks/in-relation-changed': hook(
      `value=$(relation-get value) || exit 0\necho "$value" > "$ENSEMBLE_CONTAINER_PATH/seen/$(echo "$ENSEMBLE_REMOTE_UNIT" | tr / -)"`,
    ),
  },
};

/** A machine of the soak’s model. */
export type SoakedMachine = Awaited<ReturnType<typeof addMachine>>;

/** Creates the soak’s model with this many machines, and publishes its formulas. */
export async function createMachines(services: Services, count: number): Promise<SoakedMachine[]> {
  const place = { location: 'Soak', storageAccount: 'soakstore' };
  await setStorageAccount(contextOf(services), { name: place.storageAccount, location: place.location });
  await createModel(contextOf(services), { name: model, ...place, availabilitySetsEnabled: false });
  await bootstrapModel(contextOf(services), { model });
  for (const [handler, files] of Object.entries(formulas)) {
    const file = await receiveUpload(contextOf(services), Readable.from([await zipOf(files)]));
    await registerPackage(contextOf(services), { handler, version, file, kind: 'formula' });
    await publishVersion(contextOf(services), { handler, version });
  }
  const machines: SoakedMachine[] = [];
  for (let n = 0; n < count; n += 1) machines.push(await addMachine(contextOf(services), { model }));
  return machines;
}

/** Deploys two related services: a unit of each on every other machine, and both on the first one. */
export async function deployServices(services: Services, machines: readonly SoakedMachine[]): Promise<void> {
  const declare = async ({ service, formula }: typeof givers, on: readonly SoakedMachine[]): Promise<void> => {
    for (const [index, { machine: to }] of on.entries()) {
      await setService(contextOf(services), {
        model,
        service,
        formula,
        version,
        units: index + 1,
        to,
        configure: { atOnce: 'all' },
      });
    }
  };
  await declare(
    givers,
    machines.filter((_, n) => n % 2 === 0),
  );
  await declare(
    takers,
    machines.filter((_, n) => n % 2 === 1 || n === 0),
  );
  await addRelation(contextOf(services), { model, endpoints: [givers.service, takers.service] });
}

/** Changes the setting that the units of a service pass on. Returns false if the outcome is unknown. */
export async function changeSetting(services: Services, random: () => number): Promise<boolean> {
  const settings = { n: Math.floor(random() * 1_000_000) };
  try {
    await setService(contextOf(services), { model, ...givers, version, settings });
    return true;
  } catch {
    return false;
  }
}

/**
 * Waits until no hook is due, for a limited time. Then returns where the portal’s settings of the units differ from
 * what the hooks wrote down.
 */
export async function settleUnits(
  services: Services,
  seconds: number,
  records: () => ReadonlyMap<string, HookRecord>,
): Promise<string[]> {
  const end = performance.now() + seconds * 1_000;
  for (;;) {
    try {
      const faults = await unitFaults(services, records());
      if (faults.length === 0 || performance.now() > end) return faults;
    } catch (error) {
      // The database may still be starting.
      if (performance.now() > end) return [`units: ${error instanceof Error ? error.message : error}`];
    }
    await delay(1_000);
  }
}

async function unitFaults(services: Services, records: ReadonlyMap<string, HookRecord>): Promise<string[]> {
  const faults: string[] = [];
  const names = async (service: string): Promise<string[]> => {
    const { units } = await getService(contextOf(services), { model, service });
    for (const { unit } of units) {
      const { items } = await getDue(contextOf(services), { model, unit });
      if (items.length > 0) faults.push(`${unit}: ${items.map((item) => item.hook).join(', ')} due`);
    }
    return units.map(({ unit }) => unit);
  };
  const [giving, taking] = [await names(givers.service), await names(takers.service)];
  const { nodes } = await getRelationSettings(contextOf(services), { model, number: 1 });
  const values = new Map(
    giving.map((unit) => {
      const text = nodes.find((node) => node.unit === unit)?.settings.find(({ key }) => key === 'value')?.value;
      return [unit, text === undefined || text === null ? null : (JSON.parse(text) as string)];
    }),
  );
  return [...faults, ...judgeNodes(values, records, taking)];
}
