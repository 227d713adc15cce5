import type { portal } from '#app/_lib/portal.ts';
import type { EditorProps } from './editor.tsx';

type Api = Awaited<ReturnType<typeof portal>>;

/** Published versions of a handler, and the one in use though it was withdrawn. */
export async function versionsOf(api: Api, handler: string, inUse?: string): Promise<EditorProps['versions']> {
  const { versions } = await api.handlers.get({ handler });
  return versions
    .filter(({ version, state }) => state === 'published' || version === inUse)
    .map(({ version, state }) => ({ version, state }));
}

/** The schema that an editor starts with. */
export async function firstOf(api: Api, handler: string, version: string): Promise<EditorProps['first']> {
  const { settingsSchema } = await api.packages.get({ handler, version });
  return { version, schema: settingsSchema };
}

/** The extensions of a VM's goal state, by name. */
export async function neighboursOf(
  api: Api,
  vmId: string,
): Promise<{ incarnation: number; neighbours: EditorProps['neighbours'] }> {
  const goalState = await api.goalStates.get({ vmId });
  return {
    incarnation: goalState.incarnation,
    neighbours: goalState.extensions
      .map(({ name, state }) => ({ name, isLeaving: state === 'uninstall' }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
