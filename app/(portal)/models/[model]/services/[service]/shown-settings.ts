import type { ServiceDetails } from '../service-data.ts';

/** A setting of a service as text. `value` is null for readers who may not see values. */
export interface ShownSetting {
  key: string;
  value: string | null;
  /** Whether the value is the default of the formula. */
  isDefault: boolean;
}

/** Returns the settings of a service by name. */
export function shownSettings({
  settings,
  effectiveSettings,
  settingKeys,
}: Pick<ServiceDetails, 'settings' | 'effectiveSettings' | 'settingKeys'>): ShownSetting[] {
  return settingKeys.map((key) => {
    if (effectiveSettings === null) return { key, value: null, isDefault: false };
    const value = effectiveSettings[key];
    return {
      key,
      value: typeof value === 'string' ? value : JSON.stringify(value),
      isDefault: settings !== null && !Object.hasOwn(settings, key),
    };
  });
}
