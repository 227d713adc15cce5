import { eq } from 'drizzle-orm';
import { users } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { pageLanguages } from '#server/i18n/index.ts';
import { allowPerson, type PersonContext } from '../person.ts';
import { type SetLanguageInput, setLanguageInput } from './input.ts';

/** Sets the language of the member's pages in all browsers; null means the browser's language. */
export async function setLanguage(ctx: PersonContext, input: SetLanguageInput): Promise<void> {
  const { actor } = await allowPerson(ctx);
  const { language } = parse(setLanguageInput, input);
  if (language !== null && !pageLanguages.includes(language)) {
    throw new DomainError('unprocessable', 'invalid', { faults: [{ path: '/language', code: 'field_invalid' }] });
  }
  await ctx.db.update(users).set({ language, updatedAt: ctx.now }).where(eq(users.id, actor.id));
}
