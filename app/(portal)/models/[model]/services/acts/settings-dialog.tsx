'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Dialog } from '#app/_ui/dialog.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { printed } from '#app/(portal)/vms/[vmId]/extensions/_editor/draft.ts';
import { SettingsDiff } from '#app/(portal)/vms/[vmId]/extensions/_editor/settings-diff.tsx';
import type { ServiceDialogsProps } from '../service-acts.ts';
import type { ServiceDetails, ShownService } from '../service-data.ts';
import { requestedSize, WaveField, waveSizeOf } from './at-once-field.tsx';
import { isChanged, isReadable, protectedOf, settingsDraft, storedNow } from './settings-draft.ts';
import { SettingsFields } from './settings-fields.tsx';
import { useSetService } from './use-set-service.ts';

export interface SettingsDialogProps extends Pick<ServiceDialogsProps, 'model' | 'onClose'> {
  service: ShownService;
}

/** Changes the settings of a service: shows the difference before it is applied, and in which order units get it. */
export function SettingsDialog({ model, service: { name }, onClose }: SettingsDialogProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const details = useQuery({
    ...trpc.services.get.queryOptions({ model: model.name, service: name }),
    // The values must be those that are stored now, not those that an earlier page loaded.
    staleTime: 0,
  });
  const [read, setRead] = useState<ServiceDetails>();
  const stored = storedNow(details);
  if (read === undefined && stored !== undefined) setRead(stored);
  if (read !== undefined && read.settings !== null) {
    return <SettingsForm model={model} details={read} settings={read.settings} onClose={onClose} />;
  }
  return <Loading title={t('settings.title', { name })} details={details} onClose={onClose} />;
}

interface LoadingProps {
  title: string;
  details: { error: unknown; errorUpdatedAt: number; refetch(): unknown };
  onClose(): void;
}

function Loading({ title, details, onClose }: LoadingProps) {
  const { t } = useTranslation('services');
  return (
    <Dialog open size="wide" onOpenChange={onClose} title={title}>
      {details.error ? (
        <QueryError
          title={t('settings.failed')}
          error={details.error}
          onRetry={details.refetch}
          at={new Date(details.errorUpdatedAt)}
        />
      ) : (
        <SkeletonRows columns={['w-40', 'w-40']} rows={8} label={t('settings.loading')} />
      )}
    </Dialog>
  );
}

interface SettingsFormProps extends Pick<ServiceDialogsProps, 'model' | 'onClose'> {
  details: ServiceDetails;
  settings: Record<string, unknown>;
}

function SettingsForm({ model, details: given, settings: before, onClose }: SettingsFormProps) {
  const { t } = useTranslation('services');
  const explain = useProblem();
  // The service as it was when the dialog opened. If it changes meanwhile, the request is rejected.
  const [{ details, revision }] = useState({ details: given, revision: model.revision });
  const [start] = useState(before);
  const [draft, setDraft] = useState(() => settingsDraft(before));
  const { atOnce } = details.configure;
  const [size, setSize] = useState(() => waveSizeOf(atOnce === 'all' ? null : atOnce));
  const set = useSetService({ onDone: onClose });
  const problem = set.error === null ? undefined : explain(set.error);
  const { name, formula, version, hasProtectedSettings, settingsChangedAt, settingsChangedBy } = details;
  const changes = isChanged(draft, start);
  const submit = () => {
    if (!changes || !isReadable(draft)) return;
    set.mutate({
      ...{ model: model.name, service: name, formula, version, settings: draft.settings, ifMatch: revision },
      ...{ ...protectedOf(draft), configure: requestedSize(size) },
    });
  };
  return (
    <FormDialog
      size="wide"
      title={t('settings.title', { name })}
      description={t('settings.why', { formula, version })}
      act={t('settings.act')}
      isIdle={!changes || !isReadable(draft)}
      busy={set.isPending}
      onEdit={() => forgetError(set)}
      onSubmit={submit}
      onClose={onClose}
      error={problem === undefined || problem.faults.length > 0 ? undefined : problem.message}
    >
      <SettingsFields
        formula={formula}
        version={version}
        draft={draft}
        onChange={(changed) => {
          forgetError(set);
          setDraft(changed);
        }}
        before={start}
        stored={hasProtectedSettings ? { changedAt: settingsChangedAt, changedBy: settingsChangedBy } : null}
        problem={problem}
      />
      {changes ? (
        <>
          <section aria-label={t('settings.changes')} className="rounded-md shadow-hair">
            <h3 className="px-4 py-2 text-13 font-semibold">{t('settings.changes')}</h3>
            <SettingsDiff before={printed(start)} after={printed(draft.settings)} />
            {draft.secrets.mode === 'keep' ? null : (
              <p className="border-t border-line-subtle px-4 py-2 text-12 text-ink-2">
                {t(draft.secrets.mode === 'remove' ? 'settings.protectedRemoved' : 'settings.protectedReplaced')}
              </p>
            )}
          </section>
          <WaveField value={size} onChange={setSize} />
        </>
      ) : (
        <p className="text-12 text-ink-3">{t('settings.noChange')}</p>
      )}
    </FormDialog>
  );
}
