'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { GoalStateChange, PastChange } from '../vm-data.ts';

/**
 * Returns a function that formats a difference as a sentence, such as "share: server files-a to files-b". With
 * `isRevert`, the sentence about a removed extension says that the agent will uninstall it.
 */
export function useChangeWords(): (change: GoalStateChange, isRevert?: boolean) => string {
  const { t } = useTranslation('goal-states');
  const format = useFormat();
  return ({ kind, extension: name, from, to, fields, fieldCount }, isRevert = false) => {
    if (kind === 'removed' && isRevert) return t('change.uninstall', { name });
    if (kind === 'setting') return t('change.setting', { name, field: fields[0] ?? '', from, to });
    if (kind === 'settings') {
      const more = fieldCount - fields.length;
      const listed = more > 0 ? [...fields, t('change.settings.more', { count: more })] : fields;
      return t('change.settings', { name, fields: format.list(listed) });
    }
    return t(`change.${kind}`, { name, from, to });
  };
}

/**
 * Returns a function that describes how a goal state differs from the goal state before it, or why it was published if
 * nothing differs.
 */
export function useCauseWords(): (past: PastChange) => string {
  const { t } = useTranslation('goal-states');
  const say = useChangeWords();
  return ({ cause, changes }) => {
    const name = cause.extension ?? '';
    const sentence = changes.map((change) => say(change)).join('; ');
    const what = sentence === '' ? '' : ('.what' as const);
    switch (cause.action) {
      case 'vm.create':
      case 'vm.decommission':
      case 'certificate.bind':
      case 'certificate.renew':
      case 'secrets.release':
      case 'hold.set':
      case 'hold.release':
      case 'wire-access.hold':
      case 'wire-access.release':
        return t(`cause.${cause.action}`);
      case 'extension.remove':
      case 'extension.removed':
      case 'extension.retry':
        return t(`cause.${cause.action}`, { name });
      case 'rollout.step':
      case 'rollout.recall':
      case 'rollout.revert':
      case 'rollout.retry':
        return t(`cause.${cause.action}${what}`, { what: sentence });
      case 'goal-state.revert': {
        const back = t('cause.goal-state.revert', { incarnation: cause.incarnation ?? 0 });
        return sentence === '' ? back : `${back}: ${sentence}`;
      }
      default:
        return sentence || (name === '' ? t('cause.other') : t('cause.extension.set', { name }));
    }
  };
}
