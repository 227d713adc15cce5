import { allowPerson, type PersonContext } from '../person.ts';
import { browsersOf, type SignedInBrowser } from './signed-in-browser.ts';

/** Lists the caller's own valid sessions. */
export async function listOwnSessions(ctx: PersonContext): Promise<{ items: SignedInBrowser[] }> {
  const { id, actor } = await allowPerson(ctx);
  return { items: await browsersOf(ctx.db, actor.id, ctx.now, id) };
}
