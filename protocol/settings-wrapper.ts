/** A fault in a settings wrapper. */
export interface WrapperFault {
  path: (string | number)[];
  code: 'field_missing' | 'field_not_array' | 'field_not_object' | 'field_unknown' | WrapperCode;
}

type WrapperCode = 'settings_mixed' | 'settings_several' | 'settings_encrypted';

/** The public and protected settings of an extension, if given. */
export interface PlainSettings {
  publicSettings?: Record<string, unknown>;
  protectedSettings?: unknown;
}

type Json = Record<string, unknown>;
type Path = WrapperFault['path'];

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Extracts settings from the source document's wrapper (AZ-C1), `{ handlerSettings }`, or the stock agent's wrapper,
 * `{ runtimeSettings: [{ handlerSettings }] }`. Returns null for a value without a wrapper. `settings` is valid only if
 * there are no faults. Faults never contain a value.
 */
export function unwrapSettings(value: unknown): { settings: PlainSettings; faults: WrapperFault[] } | null {
  if (!isObject(value)) return null;
  const outer = ['handlerSettings', 'runtimeSettings'].find((name) => Object.hasOwn(value, name));
  if (outer === undefined) return null;
  const faults = unexpectedProperties(value, outer, []);
  const inner = outer === 'handlerSettings' ? value : onlyElement(value.runtimeSettings, faults);
  const path: Path = outer === 'handlerSettings' ? [outer] : [outer, 0, 'handlerSettings'];
  const settings = inner === null ? {} : halvesOf(inner.handlerSettings, path, faults);
  return { settings, faults };
}

const formNames = ['handlerSettings', 'runtimeSettings', 'publicSettings', 'protectedSettings'];

/** Returns a fault for every property other than `only`. */
function unexpectedProperties(value: Json, only: string, path: Path): WrapperFault[] {
  return Object.keys(value)
    .filter((name) => name !== only)
    .map((name) => ({ path: [...path, name], code: formNames.includes(name) ? 'settings_mixed' : 'field_unknown' }));
}

/** Returns the only element of `runtimeSettings`, or null after adding a fault. */
function onlyElement(list: unknown, faults: WrapperFault[]): Json | null {
  const path = ['runtimeSettings'];
  if (!Array.isArray(list)) {
    faults.push({ path, code: 'field_not_array' });
    return null;
  }
  if (list.length !== 1) {
    faults.push({ path, code: 'settings_several' });
    return null;
  }
  const [element]: unknown[] = list;
  if (!isObject(element)) {
    faults.push({ path: [...path, 0], code: 'field_not_object' });
    return null;
  }
  faults.push(...unexpectedProperties(element, 'handlerSettings', [...path, 0]));
  return element;
}

/** Returns the contents of `handlerSettings`. A null for public settings or for the thumbprint counts as absent. */
function halvesOf(value: unknown, path: Path, faults: WrapperFault[]): PlainSettings {
  if (!isObject(value)) {
    faults.push({ path, code: value === undefined ? 'field_missing' : 'field_not_object' });
    return {};
  }
  const { publicSettings, protectedSettings, protectedSettingsCertThumbprint: thumbprint, ...others } = value;
  for (const name of Object.keys(others)) faults.push({ path: [...path, name], code: 'field_unknown' });
  if (thumbprint !== undefined && thumbprint !== null && thumbprint !== '') {
    faults.push({ path: [...path, 'protectedSettingsCertThumbprint'], code: 'settings_encrypted' });
  }
  const settings: PlainSettings = {};
  if (isObject(publicSettings)) settings.publicSettings = publicSettings;
  else if (publicSettings !== undefined && publicSettings !== null) {
    faults.push({ path: [...path, 'publicSettings'], code: 'field_not_object' });
  }
  if (protectedSettings !== undefined) settings.protectedSettings = protectedSettings;
  return settings;
}
