'use client';

import * as Radix from 'radix-ui/alert-dialog';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from './button.tsx';
import { scrim, sheet } from './dialog.tsx';
import { FieldError } from './field.tsx';
import { Input } from './input.tsx';
import { currentOpener, giveBack } from './opener.ts';
import { allowScrollLock } from './style-nonce.ts';

export interface ConfirmDialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  /** The act and its extent as a question: "Delete 3 VMs?". */
  title: ReactNode;
  /** What will happen, and whether it can be undone. */
  description: ReactNode;
  /** The act again, as the button's label: "Delete 3 VMs". */
  confirmLabel: string;
  /** How to leave things as they are; "Cancel" by default. */
  cancelLabel?: string;
  /** What must be typed first, for what cannot be undone: "delete 3". */
  phrase?: string;
  /** May return a promise; the dialog closes when it is fulfilled and stays open when it is rejected. */
  onConfirm(): Promise<unknown> | unknown;
  /** What went wrong the last time, in words. */
  error?: ReactNode;
  /** Names of what is touched, and so on. */
  children?: ReactNode;
  /** `default` for acts that only need a second look. */
  tone?: 'danger' | 'default';
}

/** Asks before an act that destroys. Esc and Cancel leave things as they are. Not for what can be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const [opener] = useState(currentOpener);
  useState(allowScrollLock);
  return (
    <Radix.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content className={sheet} onCloseAutoFocus={(event) => giveBack(event, opener)}>
          <Question {...props} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Lives only while the dialog is open, so that the typed phrase is forgotten with it. */
function Question(props: ConfirmDialogProps) {
  const { t } = useTranslation('common');
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const inputId = useId();
  const ready = props.phrase === undefined || typed.trim() === props.phrase;

  async function act() {
    if (!ready || busy) return;
    setBusy(true);
    try {
      await props.onConfirm();
      props.onOpenChange(false);
    } catch {
      // The caller shows the reason through `error`; the dialog stays.
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      className="grid grid-cols-[minmax(0,1fr)] gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void act();
      }}
    >
      <Radix.Title className="text-16 font-semibold tracking-tight">{props.title}</Radix.Title>
      <Radix.Description className="text-ink-2">{props.description}</Radix.Description>
      {props.children}
      {props.phrase === undefined ? null : (
        <div className="grid gap-[5px]">
          <label htmlFor={inputId} className="text-12 font-medium">
            {t('confirm.type', { phrase: props.phrase })}
          </label>
          <Input
            id={inputId}
            mono
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
      )}
      {props.error ? <FieldError>{props.error}</FieldError> : null}
      <div className="mt-1 flex flex-wrap justify-end gap-2 max-sm:*:grow">
        <Radix.Cancel asChild>
          <Button>{props.cancelLabel ?? t('cancel')}</Button>
        </Radix.Cancel>
        <Button
          type="submit"
          variant={props.tone === 'default' ? 'primary' : 'danger-solid'}
          disabled={!ready}
          busy={busy}
        >
          {props.confirmLabel}
        </Button>
      </div>
    </form>
  );
}
