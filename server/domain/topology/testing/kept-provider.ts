import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { FakeProvider } from './fake-provider.ts';

/** What a provider has created, as it is kept in a file. */
interface Kept {
  groups: string[];
  networks: string[];
  own: string[];
  services: [service: string, roles: string[]][];
}

/** Reads a provider that an earlier process left in a file; a new one if there is no file. */
export function readProvider(file: string): FakeProvider {
  const provider = new FakeProvider();
  if (!existsSync(file)) return provider;
  const { groups, networks, own, services } = JSON.parse(readFileSync(file, 'utf8')) as Kept;
  for (const name of groups) provider.groups.add(name);
  for (const name of networks) provider.networks.add(name);
  for (const name of own) provider.own.add(name);
  for (const [service, roles] of services) provider.services.set(service, new Set(roles));
  return provider;
}

/** Keeps the provider in the file, so that it outlives the process. */
function keepProvider(file: string, { groups, networks, own, services }: FakeProvider): void {
  const kept: Kept = {
    ...{ groups: [...groups], networks: [...networks], own: [...own] },
    services: [...services].map(([service, roles]) => [service, [...roles]]),
  };
  writeFileSync(`${file}.new`, JSON.stringify(kept));
  renameSync(`${file}.new`, file);
}

/** Returns a provider that outlives the process. `onCall` is called before and after each call takes effect. */
export function keptProvider(file: string, onCall: () => void): FakeProvider {
  return new Proxy(readProvider(file), {
    get(provider, name, receiver) {
      const value: unknown = Reflect.get(provider, name, receiver);
      if (typeof value !== 'function' || name === 'fate') return value;
      return async (...args: unknown[]) => {
        onCall();
        const result: unknown = await Reflect.apply(value, provider, args);
        keepProvider(file, provider);
        onCall();
        return result;
      };
    },
  });
}
