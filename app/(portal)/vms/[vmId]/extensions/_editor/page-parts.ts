import type { portal } from '#app/_lib/portal.ts';
import type { ReadMemberships } from '../../rollouts/memberships.ts';
import type { EditorProps } from './editor.tsx';

type Api = Awaited<ReturnType<typeof portal>>;

/** Returns the published versions of a handler, and the version in use even if it was withdrawn. */
export async function versionsOf(api: Api, handler: string, inUse?: string): Promise<EditorProps['versions']> {
  const { versions } = await api.handlers.get({ handler });
  return versions
    .filter(({ version, state }) => state === 'published' || version === inUse)
    .map(({ version, state }) => ({ version, state }));
}

/** Returns the version that the editor opens with, its schema, and the translated texts of its settings. */
export async function firstOf(api: Api, handler: string, version: string): Promise<EditorProps['first']> {
  const { settingsSchema, settingWords } = await api.packages.get({ handler, version });
  return { version, schema: settingsSchema, words: settingWords };
}

/** Returns the current goal state of a VM. */
export async function goalStateOf(api: Api, vmId: string): Promise<EditorProps['goalState']> {
  const { items } = await api.goalStates.list({ vmId, limit: 1 });
  const [newest] = items;
  if (newest === undefined) throw new Error('a VM has a goal state from its beginning');
  return newest;
}

/** Returns the rollouts of a VM. Undefined if they cannot be read, because the editor does not need them. */
export async function membershipsOf(api: Api, vmId: string): Promise<ReadMemberships | undefined> {
  const data = await api.rollouts.ofVm({ vmId }).catch(() => undefined);
  return data && { data, readAt: Date.now() };
}
