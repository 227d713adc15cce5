const segment = '[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?';

/** A provider namespace: segments of letters, digits, `_` and `-`, separated by dots. Example: `Acme.Lab`. */
export const namespacePattern = new RegExp(`^${segment}(?:\\.${segment})*$`);
export const maxNamespaceLength = 128;

/** A handler id: `<ProviderNamespace>.<Type>`, where the type is the last segment (AZ-P1). */
export const handlerIdPattern = new RegExp(`^${segment}(?:\\.${segment})+$`);
export const maxHandlerIdLength = 192;

/** The name of an extension on a VM. It becomes part of file names, so it never starts or ends with a dot or dash. */
export const extensionNamePattern = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/;
export const maxExtensionNameLength = 64;

export interface HandlerName {
  namespace: string;
  type: string;
}

/** Parses `Acme.Lab.Probe` into `{ namespace: 'Acme.Lab', type: 'Probe' }`; null if the text is not a handler id. */
export function parseHandlerId(id: string): HandlerName | null {
  if (id.length > maxHandlerIdLength || !handlerIdPattern.test(id)) return null;
  const dot = id.lastIndexOf('.');
  return { namespace: id.slice(0, dot), type: id.slice(dot + 1) };
}

/**
 * Returns the identity of a version, which is also the name of its folder on a VM:
 * `<ProviderNamespace>.<Type>-<Version>` (AZ-P1).
 */
export function handlerIdentity(handler: string, version: string): string {
  return `${handler}-${version}`;
}
