import { placeholdersOf, type ResourceFile, rawPlaceholdersOf, type StatusObject } from '#protocol/index.ts';

/**
 * Returns a sentence for each message id that a resource file lacks, and sentences about placeholders that are not
 * filled in.
 */
export function messageFaults(status: StatusObject | null, resources: ResourceFile[]): string[] {
  if (status === null) return [];
  return [...ofMessage(status, resources), ...status.substatus.flatMap((each) => messageFaults(each, resources))];
}

function ofMessage({ message }: StatusObject, resources: ResourceFile[]): string[] {
  if (message === undefined) return [];
  const { id, params } = message;
  return resources.flatMap(({ lang, messages }) => {
    const text = messages.find((each) => each.id === id)?.text;
    if (text === undefined) return [`The message id ${id} is not in the resource file for ${lang}.`];
    const faults = rawPlaceholdersOf(text).map(
      (raw) => `The message ${id} in ${lang} contains ${raw}, which is never filled in.`,
    );
    const highest = placeholdersOf(text).at(-1) ?? -1;
    if (highest < params.length) return faults;
    const missing = `has the placeholder {${highest}}, but the handler sends ${params.length} params.`;
    return [...faults, `The message ${id} in ${lang} ${missing}`];
  });
}
