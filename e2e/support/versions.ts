import type { Api } from './api.ts';
import { zipOf } from './zip.ts';

export const commands = {
  installCommand: 'bin/probe.sh install',
  uninstallCommand: 'bin/probe.sh uninstall',
  updateCommand: 'bin/probe.sh update',
  enableCommand: 'bin/probe.sh enable',
  disableCommand: 'bin/probe.sh disable',
};

/** A script that `commands` can call. It does nothing. */
export const script = '#!/bin/sh\nexit 0\n';

/** Returns a handler manifest with these fields. */
export const manifest = (fields: object): string =>
  JSON.stringify([{ version: 1.0, handlerManifest: fields }], null, 2);

/** Returns a resource file with one message, `full`. */
export const messageFile = (lang: string, text: string) => [{ version: 1.0, lang, messages: [{ id: 'full', text }] }];

/** Publishes version 1.0.0.0 of a handler with messages in two languages and a schema. Returns its zip. */
export async function publishWithMessages(api: Api, handler: string): Promise<Buffer> {
  await api.ensurePublisher(handler.slice(0, handler.lastIndexOf('.')));
  const flags = { rebootAfterInstall: false, reportHeartbeat: false };
  const zip = await zipOf({ 'HandlerManifest.json': manifest({ ...commands, ...flags }), 'bin/probe.sh': script });
  await api.publish(handler, '1.0.0.0', zip, {
    resources: {
      en: messageFile('en', 'Disk {0} is full'),
      de: messageFile('de', 'Datenträger {0} ist voll'),
    },
    settingsSchema: { publicSettings: { type: 'object', properties: { port: {} } } },
  });
  return zip;
}
