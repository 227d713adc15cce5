CREATE TABLE "conductor_state" (
	"id" integer PRIMARY KEY NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"connected_at" timestamp with time zone,
	"fault" text,
	"fault_detail" text,
	"fault_since" timestamp with time zone,
	"unreadable" bigint DEFAULT 0 NOT NULL,
	"unmatched" bigint DEFAULT 0 NOT NULL,
	"rejected_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "execution_channels" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"input_queue" text NOT NULL,
	"dialect" text NOT NULL,
	"bound_at" timestamp with time zone NOT NULL,
	"bound_by" text NOT NULL,
	CONSTRAINT "execution_channels_input_queue" UNIQUE("input_queue")
);
--> statement-breakpoint
CREATE TABLE "execution_messages" (
	"vm_id" uuid NOT NULL,
	"execution_id" uuid NOT NULL,
	"message_id" text NOT NULL,
	CONSTRAINT "execution_messages_vm_id_execution_id_message_id_pk" PRIMARY KEY("vm_id","execution_id","message_id")
);
--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "published_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "execution_channels" ADD CONSTRAINT "execution_channels_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "execution_messages" ADD CONSTRAINT "execution_messages_execution" FOREIGN KEY ("vm_id","execution_id") REFERENCES "public"."executions"("vm_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "executions_unpublished" ON "executions" USING btree ("vm_id") WHERE "executions"."channel" = 'amqp' and "executions"."state" in ('queued', 'delivered') and "executions"."published_at" is null;