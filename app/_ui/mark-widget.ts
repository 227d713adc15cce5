import { Decoration, WidgetType } from '@codemirror/view';

export type Severity = 'failed' | 'warning';

/** The tint of a marked line, by severity. */
export const markedLines: Readonly<Record<Severity, Decoration>> = {
  failed: Decoration.line({ class: 'cm-bad-setting' }),
  warning: Decoration.line({ class: 'cm-doubtful-setting' }),
};

/** The shapes of the statuses "failed" and "warning", the same as in app/_ui/status-icon.tsx. */
const shapes: Readonly<Record<Severity, string>> = {
  failed:
    'M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1zM5.6 4.5 4.5 5.6 6.9 8l-2.4 2.4 1.1 1.1L8 9.1l2.4 2.4 1.1-1.1L9.1 8l2.4-2.4-1.1-1.1L8 6.9z',
  warning:
    'M6.9 2.1 1.1 12.4A1.25 1.25 0 0 0 2.2 14.3h11.6a1.25 1.25 0 0 0 1.1-1.9L9.1 2.1a1.26 1.26 0 0 0-2.2 0zM7.2 5.6h1.6v4H7.2zM7.2 11h1.6v1.6H7.2z',
};
const colors: Readonly<Record<Severity, string>> = {
  failed: 'border-failed-line bg-failed-tint text-failed-text',
  warning: 'border-warning-line bg-warning-tint text-warning-text',
};

/** What a mark says. */
export interface MarkText {
  message: string;
  /** The place in human-readable form; empty if the position of the mark says enough. */
  path: string;
  /** What the reader can do about it. Marks with the same label must do the same. */
  act?: { label: string; run(): void } | undefined;
}

/** A message below its line. */
export class MarkWidget extends WidgetType {
  private readonly mark: MarkText;
  private readonly severity: Severity;

  constructor(mark: MarkText, severity: Severity) {
    super();
    this.mark = mark;
    this.severity = severity;
  }

  override eq({ mark, severity }: MarkWidget): boolean {
    const { message, path, act } = this.mark;
    return (
      severity === this.severity && mark.message === message && mark.path === path && mark.act?.label === act?.label
    );
  }

  override toDOM(): HTMLElement {
    const row = document.createElement('div');
    row.className = `flex items-baseline gap-2 border-y py-1 ps-[46px] pe-4 font-sans text-12 ${colors[this.severity]}`;
    const words = document.createElement('span');
    words.className = 'min-w-0 wrap-anywhere';
    const message = document.createElement('span');
    message.className = 'font-medium';
    message.textContent = this.mark.message;
    words.append(message);
    if (this.mark.path !== '') {
      const path = document.createElement('span');
      path.className = 'mono ms-2 text-ink-2';
      path.textContent = this.mark.path;
      words.append(path);
    }
    row.append(iconOf(this.severity), words);
    if (this.mark.act !== undefined) words.append(' ', buttonOf(this.mark.act));
    return row;
  }
}

function iconOf(severity: Severity): SVGElement {
  const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  icon.setAttribute('viewBox', '0 0 16 16');
  icon.setAttribute('class', 'relative top-0.5 size-3.5 shrink-0');
  icon.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  shape.setAttribute('d', shapes[severity]);
  shape.setAttribute('fill', 'currentColor');
  shape.setAttribute('fill-rule', 'evenodd');
  icon.append(shape);
  return icon;
}

function buttonOf({ label, run }: NonNullable<MarkText['act']>): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'rounded-xs font-medium text-brand-text underline underline-offset-3';
  button.textContent = label;
  button.addEventListener('click', run);
  return button;
}
