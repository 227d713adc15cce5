import { eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { services, units } from '#db/schema/index.ts';
import type { WantedLanguage } from '#protocol/index.ts';
import { findMessages, type LocalizedMessage, localizeMessage } from '#server/domain/localization/index.ts';
import type { UnitRow } from './find-unit.ts';
import type { LoggedMessage } from './run-row.ts';

/** A version of a formula, whose resource files have the texts of messages. */
interface FormulaVersion {
  handler: string;
  version: string;
}

/** Returns the version of the formula that a run of a unit’s hook was from. */
export async function readFormula(
  db: Database | Transaction,
  unit: Pick<UnitRow, 'id'>,
  version: string,
): Promise<FormulaVersion> {
  const [found] = await db
    .select({ handler: services.formula })
    .from(units)
    .innerJoin(services, eq(services.id, units.serviceId))
    .where(eq(units.id, unit.id));
  return { handler: found?.handler ?? '', version };
}

/** Loads the texts of messages, and returns a function that gives a message in the reader’s language (EN-80). */
export async function sayMessages(
  db: Database | Transaction,
  { handler, version }: FormulaVersion,
  messages: readonly LoggedMessage[],
  wanted: readonly WantedLanguage[],
): Promise<(message: LoggedMessage) => LocalizedMessage | null> {
  const ids = [...new Set(messages.map(({ id }) => id))];
  const resources = (await findMessages(db, [{ handler, version, ids }], wanted)).get(`${handler}-${version}`);
  return (message) => localizeMessage({ message, resources: resources ?? new Map(), wanted });
}
