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
  /**
   * From a resource file, as the handler wrote it, nothing but the id and its params, or from a resource file by an id
   * that the portal found again from the text.
   */
  source: 'resource' | 'formatted' | 'id' | 'recovered';
  id?: string;
  params?: string[];
  /** Where the id was recovered: the text that the agent sent. */
  original?: string;
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
 * handler sent no message at all. An id that was recovered is never told as one that was sent.
 */
export function localizeMessage(input: MessageToLocalize): LocalizedMessage | null {
  const { message, formattedMessage, wanted } = input;
  const said = message?.recovered ? undefined : message && { id: message.id, params: message.params };
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
  { message, formattedMessage, resources }: MessageToLocalize,
  languages: readonly string[],
): LocalizedMessage | null {
  if (message === undefined) return null;
  for (const lang of languages) {
    const template = templateOf(resources.get(lang), message.id);
    if (template === undefined) continue;
    const text = fillTemplate(template, message.params);
    if (text.trim() === '') continue;
    const { id, params } = message;
    if (!message.recovered) return { text, lang, source: 'resource', id, params };
    return {
      text,
      lang,
      source: 'recovered',
      id,
      params,
      ...(formattedMessage && { original: formattedMessage.message }),
    };
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
