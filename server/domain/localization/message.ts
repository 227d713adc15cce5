import type { FormattedMessage, MessageReference } from '#protocol/index.ts';
import { fillTemplate } from '#protocol/template.ts';
import { isWanted, lastLanguage, unknownLanguage } from './language.ts';

/** Templates by message id. */
export type Messages = Readonly<Record<string, string>>;
/** A handler version's templates by canonical language. */
export type Resources = ReadonlyMap<string, Messages>;

/** A message as one reader sees it. */
export interface LocalizedMessage {
  text: string;
  /** BCP 47; `und` where nobody knows. */
  lang: string;
  /** From a resource file, as the handler wrote it, or nothing but the id and its params. */
  source: 'resource' | 'formatted' | 'id';
  id?: string;
  params?: string[];
}

export interface MessageToLocalize {
  message?: MessageReference | undefined;
  formattedMessage?: FormattedMessage | undefined;
  resources: Resources;
  /** From `negotiate`. */
  wanted: readonly string[];
}

/**
 * The text for one reader (AZ-L3, AZ-L5): a resource in a wanted language, the formatted text where its language is
 * wanted, the `en` resource, the formatted text, the id with its params. Fallback is per message id. Null where the
 * handler sent no message at all.
 */
export function localizeMessage(input: MessageToLocalize): LocalizedMessage | null {
  const { message, formattedMessage, wanted } = input;
  const said = message && { id: message.id, params: message.params };
  const asSent = formattedMessage && {
    text: formattedMessage.message,
    lang: formattedMessage.lang.trim() || unknownLanguage,
    source: 'formatted' as const,
    ...said,
  };
  const inWanted = fromResource(input, wanted);
  if (inWanted) return inWanted;
  if (asSent && isWanted(asSent.lang, wanted)) return asSent;
  const last = fromResource(input, [lastLanguage]) ?? asSent;
  if (last) return last;
  return said ? { text: bareText(said), lang: unknownLanguage, source: 'id', ...said } : null;
}

function fromResource(
  { message, resources }: MessageToLocalize,
  languages: readonly string[],
): LocalizedMessage | null {
  if (message === undefined) return null;
  for (const lang of languages) {
    const template = templateOf(resources.get(lang), message.id);
    if (template === undefined) continue;
    const text = fillTemplate(template, message.params);
    if (text.trim() !== '') return { text, lang, source: 'resource', id: message.id, params: message.params };
  }
  return null;
}

/** A blank template counts as none. */
export function templateOf(messages: Messages | undefined, id: string): string | undefined {
  if (messages === undefined || !Object.hasOwn(messages, id)) return undefined;
  return messages[id]?.trim() === '' ? undefined : messages[id];
}

const bareText = ({ id, params }: MessageReference): string =>
  params.length === 0 ? id : `${id}: ${params.join(', ')}`;
