'use client';

import { useQuery } from '@tanstack/react-query';
import { Server } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import type { Problem } from '#app/_lib/problem.ts';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { ExtensionView } from '#server/domain/goal-states/index.ts';
import { changesBetween } from './changes.ts';
import { ChangesCard, changeOfSecrets } from './changes-card.tsx';
import { type Draft, draftOf, emptyDraft, goalOf, type Protected, printed, withSettings, withText } from './draft.ts';
import { Foot } from './foot.tsx';
import { JsonCard } from './json-card.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { MovedOn, type Newer } from './moved-on.tsx';
import { emptyReplacement } from './protected-settings.tsx';
import { SettingsCard } from './settings-card.tsx';
import { useCheck } from './use-check.ts';
import { useFaults } from './use-faults.ts';
import { type SettingsSchema, useSchema } from './use-schema.ts';

export interface EditorProps {
  vm: { id: string; name: string };
  handler: string;
  /** What is declared; null for a new extension. */
  extension: ExtensionView | null;
  /** The goal state that this page was made from. */
  incarnation: number;
  /** All extensions of the VM, this one too. */
  neighbours: readonly { name: string; isLeaving: boolean }[];
  versions: readonly { version: string; state: string }[];
  /** The schema of the version that is shown first. */
  first: { version: string; schema: SettingsSchema };
  /** The name that a new extension is offered. */
  suggestedName?: string;
}

/** One extension of one VM: a form beside its JSON, what will change, and the way to apply it. */
export function Editor(props: EditorProps) {
  const { vm, handler, neighbours, versions, first } = props;
  const { t } = useTranslation(['editor', 'common']);
  const router = useRouter();
  const trpc = useTRPC();
  const client = useTRPCClient();
  const explain = useProblem();
  const isNew = props.extension === null;
  const json = useRef<JsonEditorHandle>(null);

  const [base, setBase] = useState({ extension: props.extension, incarnation: props.incarnation });
  const start = useMemo(
    () => (base.extension === null ? emptyDraft(props.suggestedName ?? '', first.version) : draftOf(base.extension)),
    [base.extension, props.suggestedName, first.version],
  );
  const [draft, setDraft] = useState<Draft>(start);
  const { schema, plan, protectedForm, error: schemaError, retry } = useSchema(handler, draft.version, first);
  const offered: Protected = isNew && protectedForm.kind === 'fields' ? emptyReplacement : { mode: 'keep' };
  const [chosenSecrets, setSecrets] = useState<Protected | null>(null);
  const secrets = chosenSecrets ?? offered;
  const [newer, setNewer] = useState<Newer | null>(null);
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const [adopted, setAdopted] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [active, setActive] = useState('');
  const done = useRef(false);

  const present = base.extension?.protectedSettings ?? null;
  const goal = goalOf(handler, draft, secrets, present !== null);
  const changes = useMemo(() => changesBetween(isNew ? null : start, draft, plan), [isNew, start, draft, plan]);
  const secretChange = changeOfSecrets(secrets, present !== null);
  const textChanged = draft.unread !== null || printed(draft.settings) !== printed(start.settings);
  const dirty = changes.length > 0 || secretChange !== null || textChanged || draft.name !== start.name;
  const runs =
    isNew || secretChange !== null || changes.some(({ kind }) => ['version', 'state', 'setting'].includes(kind));

  const check = useCheck(vm.id, draft.name, goal, draft.name !== '' && schema !== undefined);
  const others = neighbours.filter(({ name, isLeaving }) => name !== draft.name && !isLeaving).map(({ name }) => name);
  const taken = isNew && neighbours.some(({ name }) => name === draft.name);
  const mustReplace = useMustReplace(base.extension, first, schema, draft.version);
  const faults = useFaults({ check, draft, secrets, taken, mustReplace, active });

  // What others do meanwhile. An untouched editor follows; one that was touched says so and keeps what was typed.
  const live = useQuery({
    ...trpc.goalStates.getExtension.queryOptions({ vmId: vm.id, name: start.name }),
    enabled: !isNew,
    ...(props.extension !== null && { initialData: props.extension }),
    retry: false,
  });
  const latest = live.data;
  const isGone = live.error !== null && explain(live.error).status === 404;
  const moved = !isNew && latest !== undefined && latest.incarnation > base.incarnation;
  const movedHere = moved && base.extension !== null && differs(base.extension, latest);
  useEffect(() => {
    if (!moved || done.current || busy || newer !== null) return;
    if (movedHere && dirty) return;
    setBase({ extension: latest, incarnation: latest.incarnation });
    if (movedHere) {
      setDraft(draftOf(latest));
      setAdopted(latest.changedBy);
    }
  }, [moved, movedHere, dirty, latest, busy, newer]);

  async function readNewer(): Promise<Newer> {
    const [goalState, extension] = await Promise.all([
      client.goalStates.get.query({ vmId: vm.id }),
      client.goalStates.getExtension.query({ vmId: vm.id, name: draft.name }).catch((error: unknown) => {
        if (explain(error).code === 'extension_absent') return null;
        throw error;
      }),
    ]);
    return {
      incarnation: goalState.incarnation,
      publishedAt: goalState.publishedAt,
      publishedBy: goalState.publishedBy,
      extension,
    };
  }

  async function apply(ifMatch: number) {
    if (busy) return;
    setBusy(true);
    setRefusal(null);
    try {
      // No mutation hook: its cache would keep the secrets.
      await client.goalStates.setExtension.mutate({ vmId: vm.id, name: draft.name, goal, ifMatch });
      done.current = true;
      setSecrets({ mode: 'keep' });
      setDraft(start);
      toast(t('applied', { name: draft.name, vm: vm.name }));
      router.push(`/vms/${vm.id}`);
    } catch (error) {
      const problem = explain(error);
      if (problem.code === 'goal_state_moved_on') {
        setNewer(await readNewer().catch(() => null));
      }
      setRefusal(problem.code === 'goal_state_moved_on' ? null : problem);
      setBusy(false);
    }
  }

  async function compare() {
    setNewer(await readNewer().catch(() => null));
  }

  function takeTheirs() {
    if (newer === null) return;
    if (newer.extension === null) return router.push(`/vms/${vm.id}`);
    setBase({ extension: newer.extension, incarnation: newer.incarnation });
    setDraft(draftOf(newer.extension));
    setSecrets(null);
    setNewer(null);
    setRefusal(null);
  }

  if (base.extension?.state === 'uninstall') {
    return (
      <Card>
        <EmptyState
          as="h1"
          status="progressing"
          title={t('uninstalling.title', { name: start.name })}
          actions={
            <Button asChild>
              <TextLink href={`/vms/${vm.id}`}>{t('back', { name: vm.name })}</TextLink>
            </Button>
          }
        >
          {t('uninstalling.why')}
        </EmptyState>
      </Card>
    );
  }

  return (
    <>
      <LeaveGuard active={dirty && !done.current} />
      <PageHeader
        title={isNew ? t('new.title') : start.name}
        note={
          <span className="mono text-ink-3">
            {handler} {draft.version}
          </span>
        }
        actions={
          <span className="flex items-center gap-1.5 text-ink-2">
            <Server aria-hidden className="size-3.5" />
            {t('appliesTo')}
          </span>
        }
      >
        <p className="text-ink-2">
          <Trans
            text={t('goalState', { name: vm.name, incarnation: base.incarnation })}
            tags={{ vm: <TextLink href={`/vms/${vm.id}`} /> }}
          />
          {isNew ? (
            <>
              {' · '}
              <TextLink href={`/vms/${vm.id}/extensions/new`}>{t('new.change')}</TextLink>
            </>
          ) : null}
        </p>
      </PageHeader>
      {newer === null ? null : (
        <MovedOn
          newer={newer}
          base={base.extension}
          mine={draft}
          secrets={secrets}
          plan={plan}
          busy={busy}
          onApplyMine={() => void apply(newer.incarnation)}
          onTakeTheirs={takeTheirs}
        />
      )}
      {newer === null && (movedHere || (isGone && !busy)) && !done.current ? (
        <Banner
          status="warning"
          boxed
          className="mb-4"
          actions={
            <Button size="sm" onClick={() => void compare()}>
              {t('live.compare')}
            </Button>
          }
        >
          {isGone
            ? t('live.gone', { extension: start.name, vm: vm.name })
            : t('live.changed', { name: latest?.changedBy ?? '', extension: start.name })}
        </Banner>
      ) : null}
      {adopted === null || dirty ? null : (
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
                  {fault.message} <span className="mono text-ink-2">{fault.path}</span>
                </li>
              ))}
            </ul>
          )}
        </Banner>
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
        <SettingsCard
          draft={draft}
          onDraft={setDraft}
          isNew={isNew}
          versions={versions}
          running={
            base.extension !== null && base.extension.version !== draft.version && draft.version === start.version
              ? base.extension.version
              : undefined
          }
          others={others}
          start={isNew ? null : start}
          schema={schema}
          schemaError={schemaError}
          onRetrySchema={retry}
          plan={plan}
          onSettings={(settings) => setDraft((current) => withSettings(current, settings))}
          onActive={setActive}
          onEditJson={(at) => json.current?.goTo(at)}
          faults={faults}
          protectedForm={protectedForm}
          present={present}
          secrets={secrets}
          onSecrets={setSecrets}
          mustReplace={mustReplace}
        />
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:sticky lg:top-[calc(var(--topbar)+16px)]">
          <JsonCard
            editor={json}
            text={draft.text}
            onText={(text) => setDraft((current) => withText(current, text))}
            onFormat={
              draft.unread === null
                ? () => setDraft((current) => ({ ...current, text: printed(current.settings) }))
                : undefined
            }
            marks={faults.marks}
            secrets={secrets}
            hadSecrets={present !== null}
            handler={handler}
            version={draft.version}
            schema={schema ?? null}
            followsForm={plan !== null}
          />
          <ChangesCard
            changes={changes}
            secrets={secrets}
            hadSecrets={present !== null}
            before={isNew ? {} : start.settings}
            after={draft.settings}
            sequenceNumber={base.extension?.sequenceNumber ?? null}
            runs={runs}
            faultAt={faults.publicAt}
          />
        </div>
      </div>
      {check.problem === null ? null : (
        <Card className="mt-4">
          <CardBody className="pt-4 text-failed-text">
            {t('foot.checkFailed', { message: check.problem.message })}
          </CardBody>
        </Card>
      )}
      <Foot
        faults={faults}
        canApply={(dirty || isNew) && newer === null}
        hasChanges={dirty || isNew}
        isOvertaken={newer !== null}
        busy={busy}
        vm={vm}
        state={draft.state}
        version={changes.some(({ kind }) => kind === 'version') ? draft.version : undefined}
        isNew={isNew}
        runs={runs}
        onApply={() => void apply(base.incarnation)}
        onEditJson={(at) => json.current?.goTo(at)}
      />
    </>
  );
}

/** Why old protected settings cannot stay, in words. */
function useMustReplace(
  extension: ExtensionView | null,
  first: { version: string; schema: SettingsSchema },
  schema: SettingsSchema | undefined,
  version: string,
): string | undefined {
  const { t } = useTranslation('editor');
  const present = extension?.protectedSettings ?? null;
  if (present === null) return undefined;
  if (present.needsSecrets) return t('protected.needs');
  const differs =
    schema !== undefined &&
    schema?.protectedSettings !== undefined &&
    JSON.stringify(schema.protectedSettings) !== JSON.stringify(first.schema?.protectedSettings);
  return differs ? t('protected.otherSchema', { version }) : undefined;
}

/** Whether somebody changed this extension, and not only its neighbours. */
function differs(before: ExtensionView, after: ExtensionView): boolean {
  const told = ({ incarnation: _, ...rest }: ExtensionView) => JSON.stringify(rest);
  return told(before) !== told(after);
}
