import type { Page } from '@playwright/test';
import type { Api } from './api.ts';
import { zipOf } from './zip.ts';

/**
 * Chromium logs every rejected request. Some journeys provoke rejections, and pages that do not exist are prefetched.
 */
export const refused = /status of (404|412)/;
/** A handler with a settings schema, in two versions. */
export const handler = 'Acme.Editor.Mount';
/** A handler with the same manifest, but without a schema. */
export const bare = 'Acme.Editor.Bare';

const commands = Object.fromEntries(
  ['install', 'update', 'enable', 'disable', 'uninstall'].map((command) => [`${command}Command`, 'bin/run.sh']),
);
const manifest = [
  {
    version: 1.0,
    handlerManifest: {
      ...commands,
      rebootAfterInstall: false,
      reportHeartbeat: false,
      supportsMultipleExtensions: true,
    },
  },
];
const settingsSchema = {
  publicSettings: {
    type: 'object',
    additionalProperties: false,
    required: ['server'],
    properties: {
      server: { type: 'string', title: 'Server', minLength: 1 },
      retrySeconds: { type: 'integer', title: 'Retry after', minimum: 5, default: 10 },
      readOnly: { type: 'boolean', title: 'Read only' },
      hosts: { type: 'array', title: 'Hosts', items: { type: 'string' } },
      labels: { type: 'object', title: 'Labels', additionalProperties: { type: 'string' } },
    },
  },
  protectedSettings: {
    type: 'object',
    additionalProperties: false,
    required: ['password'],
    properties: {
      password: { type: 'string', title: 'Password', minLength: 4 },
      keytab: { type: 'string', title: 'Keytab' },
    },
  },
};

/**
 * Publishes two versions of a handler with a schema and one version of a handler without a schema, unless the portal
 * already has these versions.
 */
export async function publishMounts(api: Api): Promise<void> {
  if (await api.call('GET', `/handlers/${handler}/versions/1.1.0.0`).catch(() => null)) return;
  await api.ensurePublisher('Acme.Editor');
  const zip = await zipOf({ 'HandlerManifest.json': JSON.stringify(manifest), 'bin/run.sh': '#!/bin/sh\nexit 0\n' });
  await api.publish(handler, '1.0.0.0', zip, { settingsSchema });
  await api.publish(bare, '1.0.0.0', zip);
  const next = await zipOf({ 'HandlerManifest.json': JSON.stringify(manifest), 'bin/run.sh': '#!/bin/sh\nexit 1\n' });
  await api.publish(handler, '1.1.0.0', next, { settingsSchema });
}

/** The button that applies the change. */
export const apply = (page: Page) => page.getByRole('button', { name: 'Apply to 1 VM' });
/** The editor of the public settings as JSON. */
export const json = (page: Page) => page.getByRole('textbox', { name: 'Public settings as JSON' });

/** Replaces the public settings by typing, because the editor ignores direct changes to its elements. */
export async function write(page: Page, text: string): Promise<void> {
  await json(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** A protected setting as the portal lists it. */
export interface Stored {
  name: string;
  changedBy: string;
}

/** Settings that the schema accepts. */
export const secured = {
  publicSettings: { server: 'x.example.net' },
  protectedSettings: { password: 'some password' },
};

/** Returns the public settings of the extension `mount` or `new`, whichever a journey declared. */
export async function settingsOf(api: Api, vmId: string): Promise<unknown> {
  const { extensions } = await api.call<{ extensions: { name: string }[] }>('GET', `/vms/${vmId}/instance-view`);
  const [name = ''] = extensions.map((extension) => extension.name).filter((one) => one === 'mount' || one === 'new');
  const declared = await api.call<{ publicSettings: unknown }>('GET', `/vms/${vmId}/extensions/${name}`);
  return declared.publicSettings;
}

/** Declares the extension `mount` with these public settings. */
export function declare(api: Api, vmId: string, publicSettings: Record<string, unknown>) {
  return api.setExtension(vmId, 'mount', {
    handler,
    version: '1.0.0.0',
    settings: { publicSettings, protectedSettings: { password: 'old password' } },
  });
}
