import type { Api } from './portal.ts';

/** The names of models by state. */
export type StagedModels = Record<'fresh' | 'few' | 'sets', string>;

/** Creates models, unless they exist: not bootstrapped, with few machines, and with availability sets. */
export async function modelsOf(api: Api): Promise<StagedModels> {
  await api('PUT', '/storage-accounts/labstore', { location: 'West Lab' });
  const { items } = await api<{ items: { name: string }[] }>('GET', '/models');
  const known = new Set(items.map(({ name }) => name));
  await create(api, known, { name: 'fresh', sets: true });
  await create(api, known, { name: 'sets', sets: true, controllers: 3 });
  await create(api, known, { name: 'few', sets: false, controllers: 1, machines: 3 });
  return { fresh: 'fresh', few: 'few', sets: 'sets' };
}

interface Terms {
  name: string;
  sets: boolean;
  /** Undefined for a model that is not bootstrapped. */
  controllers?: number;
  machines?: number;
}

async function create(api: Api, known: ReadonlySet<string>, { name, sets, controllers, machines = 0 }: Terms) {
  if (known.has(name)) return;
  await api('POST', '/models', {
    ...{ name, location: 'West Lab', storageAccount: 'labstore', availabilitySetsEnabled: sets },
  });
  if (controllers === undefined) return;
  await api('POST', `/models/${name}/bootstrap`, { controllers });
  for (let machine = 0; machine < machines; machine += 1) await api('POST', `/models/${name}/machines`, {});
}
