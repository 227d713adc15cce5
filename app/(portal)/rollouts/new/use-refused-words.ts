'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';

/** The most frequent reasons why a change cannot be declared on a VM. */
const known = [
  'settings',
  'dependency_unknown',
  'dependency_circle',
  'extension_needed',
  'extension_absent',
  'uninstalling',
  'single_extension',
  'version_shared',
  'version_withdrawn',
  'platform_unsupported',
  'secrets_required',
  'schema_slow',
  'protected_not_accepted',
  'vm_decommissioning',
  'goal_state_unknown',
  'executions_off',
  'agent_without_executions',
  'plan_invalid',
  'beyond_agent',
  'secrets_need_sealing',
  'files_too_large_for_amqp',
] as const;

/** Returns a function that says why VMs are left out, by the code of the fault. */
export function useRefusedWords(): (code: string) => string {
  const { t } = useTranslation('rollouts');
  return (code) => {
    const group = code.startsWith('setting_') || code === 'settings_too_large' ? 'settings' : code;
    const found = known.find((one) => one === group);
    return found === undefined ? t('new.refused.other', { code }) : t(`new.refused.${found}`);
  };
}
