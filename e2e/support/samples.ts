import { sampleLanguages, samplePackage, sampleResource, sampleSchema, samples } from '../../samples/build.ts';
import type { Api, ExtensionGoal } from './api.ts';

/** Publishes the newest version of each named sample handler, unless the portal already has it. */
export async function publishSamples(api: Api, handlers: readonly string[]): Promise<void> {
  for (const handler of handlers) {
    const { version, publisher } = newest(handler);
    const known = await api
      .call<{ state: string }>('GET', `/handlers/${handler}/versions/${version}`)
      .catch(() => null);
    if (known?.state === 'published') continue;
    await api.ensurePublisher(publisher.namespace);
    await api.publish(handler, version, await samplePackage(handler, version), {
      resources: Object.fromEntries(sampleLanguages.map((lang) => [lang, sampleResource(handler, lang)])),
      settingsSchema: sampleSchema(handler),
    });
  }
}

/** Returns a goal for a sample handler with valid settings, to which `publicSettings` are added. */
export function sampleGoal(handler: string, publicSettings: Record<string, unknown> = {}): ExtensionGoal {
  const { version, settings } = newest(handler);
  return {
    handler,
    version,
    settings: { ...settings, publicSettings: { ...settings.publicSettings, ...publicSettings } },
  };
}

function newest(handler: string) {
  const found = samples.findLast((sample) => sample.handler === handler);
  if (found === undefined) throw new Error(`There is no sample ${handler}.`);
  return found;
}
