import { randomUUID } from 'node:crypto';
import { and, asc, eq, gt } from 'drizzle-orm';
import { auditEntries, changes, type VersionState } from '#db/schema/index.ts';
import type { Role } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { setResources } from '../set-resources.ts';

/** Texts by message id. */
export type Texts = Readonly<Record<string, string>>;

/** Returns a resource file with these texts. */
export const fileOf = (lang: string, texts: Texts): unknown => [
  { version: 1.0, lang, messages: Object.entries(texts).map(([id, text]) => ({ id, text })) },
];

/** A handler version in the namespace `Acme.Words`, its publisher, and a function that sets a language. */
export interface GivenWords {
  handler: string;
  version: string;
  publisher: Context;
  set(lang: string, texts: Texts): Promise<Awaited<ReturnType<typeof setResources>>>;
}

/** Creates a version and sets its languages in the given order. */
export async function givenWords(
  services: Services,
  languages: Readonly<Record<string, Texts>> = {},
  { state = 'draft' as VersionState, handler = '', version = '1.0.0.0' } = {},
): Promise<GivenWords> {
  const given = { handler: handler || `Acme.Words.P${randomUUID().slice(0, 8)}`, version };
  await givenVersion(services.db, { ...given, state });
  const publisher = await testContext({ services, role: 'publisher', namespaces: ['Acme.Words'] });
  const set = (lang: string, texts: Texts) => setResources(publisher, { ...given, lang, file: fileOf(lang, texts) });
  for (const [lang, texts] of Object.entries(languages)) await set(lang, texts);
  return { ...given, publisher, set };
}

export const contextOf = (services: Services, role: Role | null, namespaces: readonly string[] = []) =>
  testContext({ services, role, namespaces });

/** Returns the activity entries about a version, in order. */
export const entriesOf = ({ db }: Services, { handler, version }: GivenWords) =>
  db
    .select()
    .from(auditEntries)
    .where(eq(auditEntries.targetId, `${handler}-${version}`))
    .orderBy(asc(auditEntries.id));

/** Returns the number of changes that `run` records for the handler. */
export async function changesBy({ db }: Services, handler: string, run: () => Promise<unknown>): Promise<number> {
  const last = (await db.select({ id: changes.id }).from(changes).orderBy(asc(changes.id))).at(-1)?.id ?? 0;
  await run();
  return db.$count(changes, and(gt(changes.id, last), eq(changes.topic, 'handler'), eq(changes.key, handler)));
}
