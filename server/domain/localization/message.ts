import { z } from 'zod';
import {
  cutText,
  type FormattedMessage,
  fillTemplate,
  lastLanguage,
  type MessageReference,
  type WantedLanguage,
} from '#protocol/index.ts';

/** The language tag of a text without a declared language. */
export const unknownLanguage = 'und';

/** Maximum UTF-8 bytes of a message for a reader. A few placeholders can multiply the length of a message. */
export const maxTextBytes = 16 * 1024;

/** Templates by message id. */
export type Messages = Readonly<Record<string, string>>;
/** A handler version's templates by canonical language. */
export type Resources = ReadonlyMap<string, Messages>;

/** A message for one reader. */
export const localizedMessage = z.object({
  text: z.string(),
  /** A BCP 47 tag; for a formatted message, the language as the handler wrote it; `und` if unknown. */
  lang: z.string(),
  /**
   * Where the text comes from: a resource file, the formatted message, only the id and its params, or a resource file
   * through an id that the portal recovered from the text.
   */
  source: z.enum(['resource', 'formatted', 'id', 'recovered']),
  id: z.string().optional(),
  params: z.array(z.string()).optional(),
  /** For a recovered id, the text that the agent sent. */
  original: z.string().optional(),
  /** Set if the text was too long and now ends with a truncation mark. */
  truncated: z.literal(true).optional(),
});
export type LocalizedMessage = z.infer<typeof localizedMessage>;

export interface MessageToLocalize {
  message?: MessageReference | undefined;
  formattedMessage?: FormattedMessage | undefined;
  resources: Resources;
  /** The result of `negotiate`. */
  wanted: readonly WantedLanguage[];
}

/**
 * Returns the text for one reader (AZ-L3, AZ-L5). For each preferred language, tries a resource, then the formatted text
 * if it is in that language. After all of them, tries the `en` resource, then the formatted text, then the id with its
 * params. Each message id falls back separately. Null if there is no message. An id that the portal recovered is marked
 * as such, never shown as sent by the handler.
 */
export function localizeMessage(input: MessageToLocalize): LocalizedMessage | null {
  const { message, formattedMessage, wanted } = input;
  const sent = message?.recovered ? undefined : message && { id: message.id, params: message.params };
  const lang = formattedMessage?.lang.trim() || unknownLanguage;
  const formatted =
    formattedMessage && bounded({ text: formattedMessage.message, lang, source: 'formatted' as const, ...sent });
  for (const language of wanted) {
    const found = fromResource(input, language.fallbacks);
    if (found) return found;
    if (formatted && language.serves(lang)) return formatted;
  }
  const last = fromResource(input, [lastLanguage]) ?? formatted;
  if (last) return last;
  return sent ? bounded({ text: bareText(sent), lang: unknownLanguage, source: 'id', ...sent }) : null;
}

function fromResource(
  { message, formattedMessage, resources }: MessageToLocalize,
  languages: readonly string[],
): LocalizedMessage | null {
  if (message === undefined) return null;
  for (const lang of languages) {
    const template = templateOf(resources.get(lang), message.id);
    if (template === undefined) continue;
    const text = fillTemplate(template, message.params, maxTextBytes);
    if (text.trim() === '') continue;
    const { id, params } = message;
    if (!message.recovered) return bounded({ text, lang, source: 'resource', id, params });
    return bounded({
      text,
      lang,
      source: 'recovered',
      id,
      params,
      ...(formattedMessage && { original: formattedMessage.message }),
    });
  }
  return null;
}

function bounded(message: LocalizedMessage): LocalizedMessage {
  const text = cutText(message.text, maxTextBytes);
  return text === message.text ? message : { ...message, text, truncated: true };
}

/** Returns the template of an id; undefined if it is missing or blank. */
export function templateOf(messages: Messages | undefined, id: string): string | undefined {
  if (messages === undefined || !Object.hasOwn(messages, id)) return undefined;
  return messages[id]?.trim() === '' ? undefined : messages[id];
}

const bareText = ({ id, params }: MessageReference): string =>
  params.length === 0 ? id : `${id}: ${params.join(', ')}`;
