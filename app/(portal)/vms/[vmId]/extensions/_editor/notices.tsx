'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import { CopySettings } from './copy-settings.tsx';

export interface NoticesProps {
  name: string;
  vm: { name: string };
  gone: 'vm' | 'extension' | null;
  /** Who changed this extension while it was being edited. */
  changedBy: string | null;
  /** Who made the change that was loaded into an unmodified draft. */
  adopted: string | null;
  /** Why applying failed. */
  refusal: ExplainedProblem | null;
  /** Why planning failed. */
  problem: ExplainedProblem | null;
  settings: SettingsObject;
  onCompare(): void;
}

/** Banners about changes by other people, and about errors that belong to no field. */
export function Notices(props: NoticesProps) {
  const { name, vm, gone, changedBy, adopted, refusal, problem } = props;
  const { t } = useTranslation(['editor', 'common']);
  const compare = (
    <Button size="sm" onClick={props.onCompare}>
      {t('live.compare')}
    </Button>
  );
  return (
    <>
      {gone === null ? null : (
        <Banner
          status="warning"
          boxed
          className="mb-4"
          actions={
            <span className="flex flex-wrap gap-2">
              <CopySettings settings={props.settings} small />
              {gone === 'extension' ? compare : null}
            </span>
          }
        >
          {t(gone === 'vm' ? 'live.vmGone' : 'live.gone', { extension: name, vm: vm.name })}
        </Banner>
      )}
      {gone !== null || changedBy === null ? null : (
        <Banner status="warning" boxed className="mb-4" actions={compare}>
          {t('live.changed', { name: changedBy, extension: name })}
        </Banner>
      )}
      {adopted === null ? null : (
        <Banner status="progressing" boxed className="mb-4">
          {t('live.adopted', { name: adopted })}
        </Banner>
      )}
      {refusal === null ? null : (
        <Banner status="failed" role="alert" boxed className="mb-4">
          {t('refused', { message: refusal.message })}
          {refusal.faults.length === 0 ? null : (
            <ul className="mt-1">
              {refusal.faults.map((fault) => (
                <li key={`${fault.path}${fault.code}`}>
                  {fault.message}{' '}
                  <span translate="no" className="mono text-ink-2">
                    {fault.path}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Banner>
      )}
      {problem === null || gone !== null ? null : (
        <Banner status="failed" boxed className="mb-4">
          {t('plan.failed', { message: problem.offline ? t('common:problem.offline') : problem.message })}
        </Banner>
      )}
    </>
  );
}
