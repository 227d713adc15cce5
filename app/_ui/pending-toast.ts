export interface ToastOptions {
  /** The undo action, if there is one. */
  undo?: { label: string; run(): void };
}

/** A toast that was requested but is not shown yet. */
export interface PendingToast extends ToastOptions {
  text: string;
}
