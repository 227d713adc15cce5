/** The message that the table opens: a reported message, or the first message that a language lacks. */
export interface MessagesStart {
  message?: { id: string; lang: string; params: string[] };
  missing?: string;
}

type Asked = Readonly<Record<string, string | string[] | undefined>>;

const maxParams = 10;

/** Reads `?message=&lang=&param=…` or `?missing=<lang>` from the page's URL. */
export function startOf({ message, lang, param, missing }: Asked): MessagesStart {
  const one = (value: Asked[string]): string | undefined => (Array.isArray(value) ? value[0] : value);
  const id = one(message)?.trim().slice(0, 1024);
  if (id !== undefined && id !== '') {
    return { message: { id, lang: one(lang) ?? 'en', params: [param ?? []].flat().slice(0, maxParams) } };
  }
  const wanted = one(missing);
  return wanted === undefined ? {} : { missing: wanted };
}
