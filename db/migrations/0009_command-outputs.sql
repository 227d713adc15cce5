CREATE TABLE "command_outputs" (
	"vm_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"extension" text NOT NULL,
	"sequence_number" bigint NOT NULL,
	"command" text NOT NULL,
	"attempt" integer NOT NULL,
	"total_bytes" bigint,
	"stored_bytes" bigint NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "command_outputs_vm_id_id_pk" PRIMARY KEY("vm_id","id")
);
--> statement-breakpoint
CREATE TABLE "log_archives" (
	"vm_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"handler" text NOT NULL,
	"requested_at" timestamp with time zone NOT NULL,
	"requested_by" text NOT NULL,
	"answered_at" timestamp with time zone,
	"sha256" text,
	"size" bigint,
	"form" text,
	CONSTRAINT "log_archives_vm_id_id_pk" PRIMARY KEY("vm_id","id")
);
--> statement-breakpoint
CREATE TABLE "output_pieces" (
	"vm_id" uuid NOT NULL,
	"output_id" uuid NOT NULL,
	"start" bigint NOT NULL,
	"until" bigint NOT NULL,
	"sha256" text NOT NULL,
	"lines" integer NOT NULL,
	"ends_line" boolean NOT NULL,
	"error_line" integer,
	CONSTRAINT "output_pieces_vm_id_output_id_start_pk" PRIMARY KEY("vm_id","output_id","start")
);
--> statement-breakpoint
ALTER TABLE "command_outputs" ADD CONSTRAINT "command_outputs_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "log_archives" ADD CONSTRAINT "log_archives_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "output_pieces" ADD CONSTRAINT "output_pieces_vm_id_output_id_command_outputs_vm_id_id_fk" FOREIGN KEY ("vm_id","output_id") REFERENCES "public"."command_outputs"("vm_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "command_outputs_run" ON "command_outputs" USING btree ("vm_id","extension","sequence_number","command","attempt");--> statement-breakpoint
CREATE INDEX "command_outputs_updated" ON "command_outputs" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "log_archives_requested" ON "log_archives" USING btree ("requested_at");--> statement-breakpoint
CREATE INDEX "log_archives_sha256" ON "log_archives" USING btree ("sha256") WHERE "log_archives"."sha256" is not null;--> statement-breakpoint
CREATE INDEX "output_pieces_sha256" ON "output_pieces" USING btree ("sha256");