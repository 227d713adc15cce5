import type { Api } from './api.ts';

interface ModelTerms {
  availabilitySetsEnabled?: boolean;
  controllers?: number;
}

/** Creates a model that is not bootstrapped, with a storage account. Returns its name. */
export async function createdModel(
  api: Api,
  name: string,
  { availabilitySetsEnabled = false }: ModelTerms = {},
): Promise<string> {
  await api.call('PUT', '/storage-accounts/labstore', { body: { location: 'West Lab' } });
  await api.call('POST', '/models', {
    body: { name, location: 'West Lab', storageAccount: 'labstore', availabilitySetsEnabled },
  });
  return name;
}

/** Creates and bootstraps a model. Returns its name. */
export async function bootstrappedModel(api: Api, name: string, terms: ModelTerms = {}): Promise<string> {
  await createdModel(api, name, terms);
  await api.call('POST', `/models/${name}/bootstrap`, { body: { controllers: terms.controllers ?? 0 } });
  return name;
}
