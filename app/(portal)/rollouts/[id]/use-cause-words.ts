'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';

/** The failed command of a step, if it is known. */
interface Failure {
  command: string | null;
  exitCode: number | null;
}

/** Returns a function that says why a step has its state. Unknown codes are shown as they are. `isRun`: the step runs a runbook. */
export function useCauseWords(isRun: boolean): (cause: string | null, failure?: Failure | null) => string {
  const { t } = useTranslation('rollouts');
  return (cause, failure) => {
    if (cause === null || cause === '') return t('cause.none');
    if (cause.startsWith('refused:')) return t('cause.refused', { code: cause.slice('refused:'.length) });
    if (cause.startsWith('code:')) return t('cause.code', { code: cause.slice('code:'.length) });
    const { command = null, exitCode = null } = failure ?? {};
    if (command !== null) {
      if (cause === 'exit' && exitCode !== null) return t('failure.exit', { command, exit: String(exitCode) });
      if (cause === 'timeout') return t('failure.timeout', { command });
      if (cause === 'command') return t('failure.command', { command });
    }
    const keys = isRun ? [`cause.run.${cause}`, `cause.${cause}`] : [`cause.${cause}`];
    const say = t as unknown as (key: string) => string;
    return keys.map((key) => ({ key, text: say(key) })).find(({ key, text }) => text !== key)?.text ?? cause;
  };
}
