'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { type LucideIcon, MessageSquareText, Package, Rocket, Search, Tag as TagIcon, Waypoints } from 'lucide-react';
import { useRouter } from 'next/navigation';
import * as Radix from 'radix-ui/dialog';
import { type ReactNode, useDeferredValue, useRef, useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { mayLeave } from '../../_lib/leave.ts';
import { useCurrentPageCommands } from '../../_lib/page-commands.ts';
import { requestAct } from '../../_lib/requested-act.ts';
import { useTRPC } from '../../_lib/trpc.tsx';
import { useProblem } from '../../_lib/use-problem.ts';
import { cn } from '../../_ui/cn.ts';
import { scrim } from '../../_ui/dialog.tsx';
import { currentOpener, restoreFocus } from '../../_ui/opener.ts';
import { StatusIcon } from '../../_ui/status-icon.tsx';
import { allowScrollLock } from '../../_ui/style-nonce.ts';
import { setTyped, useTyped } from './typed.ts';
import { type PaletteCommand, useCommands } from './use-commands.ts';
import { type FoundFacet, useFacets } from './use-facets.ts';

/** Finds pages, VMs, handlers and commands by a few letters. Its script is large, so load it with `dynamic`. */
export function Palette({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('palette');
  const router = useRouter();
  const [opener] = useState(currentOpener);
  useState(allowScrollLock);
  const typed = useTyped();
  const input = useRef<HTMLInputElement>(null);
  const wanted = typed.trim();
  const { pages, states, acts } = useCommands();
  const page = useCurrentPageCommands();
  const found = useFound(wanted);
  const matches = ({ label }: PaletteCommand) => label.toLocaleLowerCase().includes(wanted.toLocaleLowerCase());

  function go(href: string) {
    onClose();
    mayLeave(() => router.push(href));
  }
  function take({ href, act, run }: PaletteCommand) {
    onClose();
    if (href === undefined) return run?.();
    mayLeave(() => {
      router.push(href);
      if (act !== undefined) requestAct(act);
    });
  }
  return (
    <Radix.Root open onOpenChange={onClose}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => focusAtEnd(event, input.current)}
          onCloseAutoFocus={(event) => restoreFocus(event, opener)}
          className="fixed top-[12vh] left-1/2 z-50 w-[min(600px,calc(100vw-24px))] -translate-x-1/2 overflow-hidden rounded-xl bg-raised shadow-float outline-none animate-fade [--cut:var(--raised)]"
        >
          <Radix.Title className="sr-only">{t('title')}</Radix.Title>
          <Command label={t('title')} shouldFilter={false} loop>
            <div className="flex items-center gap-2.5 border-b border-line-subtle px-4">
              <Search aria-hidden className="size-4 shrink-0 text-ink-3" />
              <Command.Input
                ref={input}
                value={typed}
                onValueChange={setTyped}
                maxLength={200}
                placeholder={t('placeholder')}
                className="h-12 min-w-0 flex-1 bg-transparent text-14 outline-none placeholder:text-ink-3 focus-visible:shadow-none"
              />
            </div>
            <Command.List
              label={t('results')}
              aria-busy={found.pending}
              className="max-h-[min(420px,60vh)] scroll-py-2 overflow-y-auto p-2"
            >
              {page === null ? null : (
                <CommandGroup
                  heading={page.heading}
                  commands={page.commands.filter(matches).slice(0, wanted === '' ? 6 : 20)}
                  onTake={take}
                />
              )}
              {/* Shown only while the reader searches, because the list of states is long. */}
              <CommandGroup
                heading={t('states')}
                commands={wanted === '' ? [] : states.filter(matches)}
                onTake={take}
              />
              <FoundGroups found={found} onGo={go} />
              <CommandGroup heading={t('pages')} commands={pages.filter(matches)} onTake={take} />
              <CommandGroup heading={t('acts')} commands={acts.filter(matches)} onTake={take} />
              <Command.Empty className="px-2 py-6 text-center text-ink-3">
                {found.pending ? t('searching') : t('empty', { q: wanted })}
              </Command.Empty>
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * Focuses the field and places the cursor after its text. By default, the dialog would select the text, and the next
 * key would replace it.
 */
function focusAtEnd(event: Event, field: HTMLInputElement | null): void {
  event.preventDefault();
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}

interface FoundGroupsProps {
  found: ReturnType<typeof useFound>;
  onGo(href: string): void;
}

function FoundGroups({ found, onGo }: FoundGroupsProps) {
  const { t } = useTranslation('palette');
  return (
    <>
      {found.problem === null ? null : (
        <p role="alert" className="px-2 py-2 text-12 text-failed-text">
          {t('failed', { reason: found.problem })}
        </p>
      )}
      {found.vms.length === 0 ? null : (
        <Group heading={t('vms')}>
          {found.vms.map(({ id, name, health }) => (
            <Line key={id} value={`vm-${id}`} onSelect={() => onGo(`/vms/${id}`)}>
              <StatusIcon status={health === null ? 'unknown' : statusOfHealth[health]} className="mx-px" />
              <span className="truncate font-medium">{name}</span>
              {health === null ? null : (
                <span className="ms-auto shrink-0 text-12 text-ink-3">{t(`health.${health}`)}</span>
              )}
            </Line>
          ))}
        </Group>
      )}
      {found.models.length === 0 ? null : (
        <Group heading={t('models')}>
          {found.models.map(({ name, location }) => (
            <Line key={name} value={`model-${name}`} onSelect={() => onGo(`/models/${name}`)}>
              <Waypoints aria-hidden strokeWidth={1.75} className="size-4 shrink-0 text-ink-3" />
              <span translate="no" className="truncate font-medium">
                {name}
              </span>
              <span translate="no" className="ms-auto shrink-0 text-12 text-ink-3">
                {location}
              </span>
            </Line>
          ))}
        </Group>
      )}
      {found.handlers.length === 0 ? null : (
        <Group heading={t('handlers')}>
          {found.handlers.map(({ handler, publisher }) => (
            <Line key={handler} value={`handler-${handler}`} onSelect={() => onGo(`/handlers/${handler}`)}>
              <Package aria-hidden strokeWidth={1.75} className="size-4 shrink-0 text-ink-3" />
              <span translate="no" className="mono truncate">
                {handler}
              </span>
              <span className="ms-auto shrink-0 text-12 text-ink-3">{publisher}</span>
            </Line>
          ))}
        </Group>
      )}
      {found.rollouts.length === 0 ? null : (
        <Group heading={t('rollouts')}>
          {found.rollouts.map(({ id, name, state }) => (
            <Line key={id} value={`rollout-${id}`} onSelect={() => onGo(`/rollouts/${id}`)}>
              <Rocket aria-hidden strokeWidth={1.75} className="size-4 shrink-0 text-ink-3" />
              <span translate="no" className="truncate font-medium">
                {name}
              </span>
              <span className="ms-auto shrink-0 text-12 text-ink-3">{t(`rollout.${state}`)}</span>
            </Line>
          ))}
        </Group>
      )}
      <FacetGroup heading={t('tags')} facets={found.tags} icon={TagIcon} onGo={onGo} />
      <FacetGroup heading={t('messages')} facets={found.messages} icon={MessageSquareText} onGo={onGo} />
    </>
  );
}

interface FacetGroupProps {
  heading: string;
  facets: readonly FoundFacet[];
  icon: LucideIcon;
  onGo(href: string): void;
}

/** Lists tags or message ids, each with a link to its VMs and their number. */
function FacetGroup({ heading, facets, icon: Icon, onGo }: FacetGroupProps) {
  if (facets.length === 0) return null;
  return (
    <Group heading={heading}>
      {facets.map(({ label, href, count }) => (
        <Line key={href} value={href} onSelect={() => onGo(href)}>
          <Icon aria-hidden strokeWidth={1.75} className="size-4 shrink-0 text-ink-3" />
          <span translate="no" className="truncate">
            {label}
          </span>
          <span className="ms-auto shrink-0 text-12 text-ink-3 tabular-nums">{count}</span>
        </Line>
      ))}
    </Group>
  );
}

interface CommandGroupProps {
  heading: string;
  commands: readonly PaletteCommand[];
  onTake(command: PaletteCommand): void;
}

function CommandGroup({ heading, commands, onTake }: CommandGroupProps) {
  if (commands.length === 0) return null;
  return (
    <Group heading={heading}>
      {commands.map((command) => (
        <Line key={command.id} value={command.id} onSelect={() => onTake(command)}>
          <command.icon aria-hidden strokeWidth={1.75} className="size-4 shrink-0 text-ink-3" />
          <span className="truncate">{command.label}</span>
        </Line>
      ))}
    </Group>
  );
}

/** Searches on the server. Shows the last results until the next results are loaded. */
function useFound(wanted: string) {
  const trpc = useTRPC();
  const explain = useProblem();
  const q = useDeferredValue(wanted);
  const options = { enabled: q !== '', placeholderData: keepPreviousData, retry: false };
  const found = useQuery({ ...trpc.finds.things.queryOptions({ q }), ...options });
  const facets = useFacets(q, options);
  const { vms = [], models = [], handlers = [], rollouts = [] } = (q === '' ? undefined : found.data) ?? {};
  const pending = wanted !== q || (q !== '' && (found.isFetching || facets.isFetching));
  const problem = found.error === null ? null : explain(found.error).message;
  return { vms, models, handlers, rollouts, tags: facets.tags, messages: facets.messages, pending, problem };
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="pb-1 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-12 [&_[cmdk-group-heading]]:text-ink-3"
    >
      {children}
    </Command.Group>
  );
}

interface LineProps {
  value: string;
  onSelect(): void;
  children: ReactNode;
}

function Line({ value, onSelect, children }: LineProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className={cn(
        'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2 text-13 pointer-coarse:min-h-(--touch)',
        'data-[selected=true]:bg-press data-[selected=true]:text-ink',
      )}
    >
      {children}
    </Command.Item>
  );
}
