'use client';

import { Lock } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import type { ProtectedDraft } from '../../vms/[vmId]/extensions/_editor/draft.ts';
import type { ProtectedForm } from '../../vms/[vmId]/extensions/_editor/protected-form.tsx';
import { emptyReplacement, ProtectedSettings } from '../../vms/[vmId]/extensions/_editor/protected-settings.tsx';
import type { SettingsPatchProps } from './settings-patch-props.ts';

const root = '/change/protectedSettings';

/** Protected settings: kept as each VM has them, replaced as a whole, or removed. */
export function ProtectedPatch({ form, change, onChange, faults }: SettingsPatchProps & { form: ProtectedForm }) {
  const { t } = useTranslation('rollouts');
  const { secrets } = change;
  const put = (next: ProtectedDraft) => onChange({ ...change, secrets: next });
  return (
    <div className="grid gap-3">
      <div className="flex min-h-7 flex-wrap items-center gap-2">
        <Lock aria-hidden className="size-3.5 text-ink-3" />
        <span className="text-ink-2">{t(`new.protected.${secrets.mode === 'change' ? 'keep' : secrets.mode}`)}</span>
        <span className="ms-auto flex flex-wrap justify-end gap-1">
          {secrets.mode === 'keep' ? (
            <>
              {form.kind === 'none' ? null : (
                <Button size="sm" variant="ghost" onClick={() => put(emptyReplacement)}>
                  {t('new.protected.act.replace')}
                </Button>
              )}
              <Button size="sm" variant="ghost" onClick={() => put({ mode: 'remove' })}>
                {t('new.protected.act.remove')}
              </Button>
            </>
          ) : (
            <Button size="sm" variant="ghost" onClick={() => put({ mode: 'keep' })}>
              {t('new.setting.reset')}
            </Button>
          )}
        </span>
      </div>
      {secrets.mode === 'replace' ? (
        <ProtectedSettings
          form={form}
          present={null}
          value={secrets}
          onChange={put}
          mustReplace={undefined}
          faultAt={(name) => faults.at(name === '' ? root : `${root}/${name}`)}
        />
      ) : (
        faults.below(root).map(({ path, message }) => (
          <p key={path} className="text-12 text-failed-text">
            {message}
          </p>
        ))
      )}
    </div>
  );
}
