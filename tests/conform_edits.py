# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests/conform.py knows beforehand: mistakes that were found in the page by
reading it, and edits of page and header that must be told."""

# By a reader with the header at hand, before anything was compared by program.
READ_BY_HAND = """
page-unknown:PERF_SAMPLE_MMAP2 page-unknown:PERF_EVENT_MODIFY_ATTRIBUTES
page-unknown:sample_frequency page-unknown:nr_namespace page-unknown:cap_usr_time_zero
page-unknown:wakeup_event page-unknown:time_running
page-member-old:perf_event_mmap_page.cap_usr_time
page-member-old:perf_event_mmap_page.cap_usr_rdpmc
page-bits:perf_event_mmap_page
page-undescribed:PERF_SAMPLE_AUX page-undescribed:perf_event_attr.sample_regs_intr
page-markup:PERF_SAMPLE_BRANCH_CALL_STACK
page-missing:PERF_RECORD_AUX_OUTPUT_HW_ID page-missing:PERF_RECORD_KSYMBOL_TYPE_OOL
page-missing:PERF_AUX_FLAG_PARTIAL page-missing:PERF_AUX_FLAG_COLLISION
page-missing:PERF_SAMPLE_BRANCH_NO_FLAGS page-missing:PERF_SAMPLE_BRANCH_NO_CYCLES
page-missing:PERF_SAMPLE_BRANCH_TYPE_SAVE page-missing:PERF_SAMPLE_BRANCH_HW_INDEX
page-missing:PERF_SAMPLE_BRANCH_PRIV_SAVE page-missing:PERF_ATTR_SIZE_VER6
page-missing:PERF_ATTR_SIZE_VER7
page-since:PERF_SAMPLE_PHYS_ADDR page-since:perf_event_attr.write_backward
page-since:perf_event_attr.namespaces page-since:perf_event_attr.ksymbol
page-since:perf_event_attr.bpf_event page-since:perf_event_attr.text_poke
page-since:PERF_RECORD_NAMESPACES page-since:PERF_RECORD_KSYMBOL
page-since:PERF_RECORD_BPF_EVENT page-since:PERF_RECORD_TEXT_POKE
page-member-missing:perf_event_attr.config3
page-member-missing:perf_event_mmap_page.time_zero
page-member-missing:perf_event_mmap_page.time_cycles
page-member-missing:perf_event_mmap_page.time_mask
page-member-missing:perf_event_mmap_page.cap_user_time_short
page-member-missing:PERF_RECORD_MMAP.sample_id
page-member-missing:PERF_RECORD_ITRACE_START.sample_id
page-member-missing:PERF_RECORD_SAMPLE.hw_idx
page-undescribed:perf_branch_entry.type page-undescribed:perf_branch_entry.spec
page-undescribed:perf_mem_data_src.mem_lvl_num page-undescribed:perf_mem_data_src.mem_remote
page-undescribed:perf_mem_data_src.mem_blk page-undescribed:perf_mem_data_src.mem_hops
page-undescribed:perf_mem_data_src.mem_snoopx
page-errno-missing:EIO page-errno-missing:ENOMEM page-errno-missing:ENFILE
page-errno-wrong:EPERM.exclude_hv page-errno-wrong:EPERM.exclude_kernel
page-errno-cases:E2BIG page-errno-cases:EACCES page-errno-cases:EINVAL
page-errno-cases:ENODEV page-errno-cases:ENOENT page-errno-cases:EINTR
page-errno-cases:EFAULT page-errno-cases:EOPNOTSUPP page-errno-cases:EPERM
page-errno-cases:ESRCH
page-call-errors:PERF_EVENT_IOC_SET_FILTER page-call-errors:PERF_EVENT_IOC_SET_BPF
page-call-errors:ioctl page-call-errors:read page-call-errors:pread64
""".replace("page-unknown:time_running", "").split() + ["page-unknown:time running"]

# What a reader found false or left out of what the page says of behaviour, on Linux 6.18:
# each is told by these.
BEHAVIOUR_BY_HAND = """
claim:wakeup_events_zero claim:sample_id_leader claim:sample_id_group_leader
claim:format_id_group claim:stream_id_inherited claim:prctl_leaders_only claim:txn_abort
claim:ioctl_query_bpf_ids_len unsaid:ioctl_query_bpf_others claim:ioctl_set_bpf_right
unsaid:ioctl_set_bpf_overflow unsaid:ioctl_set_bpf_uprobe claim:ioctl_set_output_int
unsaid:ioctl_set_filter_again unsaid:ioctl_set_filter_address unsaid:ioctl_set_filter_length
unsaid:ioctl_modify_clock unsaid:ioctl_modify_fields unsaid:ioctl_modify_size unsaid:ioctl_modify_others
claim:refresh_hup_poll unsaid:poll_unmapped unsaid:ioctl_refresh_zero
claim:inherit_format_group unsaid:inherit_sample_read claim:aux_greater
claim:eopnotsupp_skid unsaid:precise_not_hardware claim:bp_r claim:mlock_pages
unsaid:max_stack_branches unsaid:ioctl_period_freq unsaid:ioctl_period_clock unsaid:data_tail_protect
unsaid:paranoid_3 unsaid:paranoid_pid unsaid:record_bpf_longer unsaid:signal_each_overflow
claim:sample_period claim:clockid_all_events claim:prctl_threads claim:exclude_idle_refused
claim:sample_read_alone claim:data_head_backward claim:task_not_alone claim:flag_output_broken
""".split()

# Of the French page of 6.03.
FRENCH_ALONE = ["page-unknown:PERF_ATR_SIZE_VER3",
		"page-member-place:perf_event_attr.aux_sample_size"]

# What the comment about samples in the header of 6.1 draws otherwise: it has AUX before
# the sizes of pages (the kernel writes it last), no cgroup, and structures of their
# own as members.
COMMENT_DIFFERS = {"page-member-%s:PERF_RECORD_SAMPLE.%s" % pair for pair in [
	("order", "data_page_size"), ("order", "code_page_size"), ("missing", "cgroup"),
	("missing", "lbr"), ("missing", "counters"), ("missing", "weight"), ("name", "id"),
	("width", "counters"), # from Linux 6.9 on, an array of structures of one
] + [("extra", m) for m in "u64 from to flags full var1_dw var2_w var3_w".split()]}

M = r"page-member-"
# what, pattern, replacement, ids of findings any of which tells it
PAGE_EDITS = [
	# members of perf_event_attr
	("drop a member", r"^    __u64 read_format;.*?\n", "", M + "missing:*.read_format"),
	("drop a bit", r"^          inherit        : 1,.*?\n", "", M + "missing:*.inherit"),
	("drop a bit in the middle", r"^          comm           : 1,.*?\n", "", M + "missing:*.comm"),
	("drop a union's member", r"^        __u64 sample_freq;.*?\n", "", M + "missing:*.sample_freq"),
	("drop the last", r"^    __u64 sig_data;.*?\n", "", M + "missing:*.sig_data"),
	("drop what is reserved", r"^    __u16 __reserved_2;.*?\n", "", M + "missing:*.__reserved_2"),
	("misspell a member", r"^    __u64 branch_sample_type;", "    __u64 branch_sampel_type;",
	 M + "name:*.branch_sampel_type"),
	("misspell a bit", r"^          exclude_hv     : 1", "          exclude_hw     : 1",
	 M + "name:*.exclude_hw"),
	("widen a member", r"^    __u32 aux_watermark;", "    __u64 aux_watermark;",
	 M + "width:*.aux_watermark"),
	("narrow a member", r"^    __u64 sample_regs_user;", "    __u32 sample_regs_user;",
	 M + "width:*.sample_regs_user"),
	("narrow a bit-field", r"precise_ip     : 2,", "precise_ip     : 1,", M + "width:*.precise_ip"),
	("widen a bit", r"watermark      : 1,", "watermark      : 2,", M + "width:*.watermark"),
	("reserve too few bits", r"__reserved_1   : 26;", "__reserved_1   : 25;", "page-bits:*attr"),
	("swap two members", r"(    __u64 sample_type;.*?\n)(    __u64 read_format;.*?\n)", r"\2\1",
	 M + "order:*"),
	("swap two bits", r"(          mmap           : 1,.*?\n)(          comm           : 1,.*?\n)",
	 r"\2\1", M + "order:*"),
	("a bit that nobody has", r"(          freq           : 1,)",
	 r"          novelty        : 1,\n\1", M + "extra:*.novelty"),
	("a member that nobody has", r"(    __u64 sample_regs_intr;)", r"    __u64 sample_regs_more;\n\1",
	 M + "extra:*.sample_regs_more"),
	("a member becomes an array", r"^    __u64 sample_regs_intr;", "    __u64 sample_regs_intr[2];",
	 M + "width:*.sample_regs_intr"),
	# the first page of a ring
	("drop a lock", r"^    __u32 lock;.*?\n", "", M + "missing:*.lock"),
	("narrow a head", r"^    __u64 data_head;", "    __u32 data_head;", M + "width:*.data_head"),
	("pad too little", r"__reserved\[120\]", "__reserved[119]", M + "place:*.data_head"),
	("swap heads", r"(    __u64 aux_head;\n)(    __u64 aux_tail;\n)", r"\2\1", M + "order:*"),
	("drop a capability", r"^ *cap_user_rdpmc         : 1,\n", "", M + "missing:*.cap_user_rdpmc"),
	("misspell a shift", r"^    __u16 time_shift;", "    __u16 time_schift;",
	 M + "name:*.time_schift"),
	# records
	("drop a record's member", r"^    u64    pgoff;\n", "", M + "missing:PERF_RECORD_MMAP.pgoff"),
	("drop a sample_id", r"(    u64    lost;\n)    struct sample_id sample_id;\n", r"\1",
	 M + "missing:PERF_RECORD_LOST.sample_id"),
	("widen a record's member", r"^    u32    pid, ppid;", "    u64    pid, ppid;",
	 M + "width:PERF_RECORD_EXIT.pid"),
	("swap a record's members", r"(    u64    aux_offset;\n)(    u64    aux_size;\n)", r"\2\1",
	 M + "order:PERF_RECORD_AUX.*"),
	("narrow in a union", r"^            u64    ino;", "            u32    ino;",
	 M + "width:PERF_RECORD_MMAP2.ino"),
	("drop out of a union", r"^            u8     build_id_size;\n", "",
	 M + "missing:PERF_RECORD_MMAP2.build_id_size"),
	("misspell in a record", r"^    u64    nr_namespaces;", "    u64    nr_namespeces;",
	 M + "name:PERF_RECORD_NAMESPACES.nr_namespeces"),
	("a record's member that nobody has", r"(    u16    new_len;\n)", r"\1    u32    older_len;\n",
	 M + "extra:PERF_RECORD_TEXT_POKE.older_len"),
	("an array of other elements", r"^    u8 tag\[BPF_TAG_SIZE\];", "    u8 tag;",
	 M + "width:PERF_RECORD_BPF_EVENT.tag"),
	("widen in ksymbol", r"^    u16    ksym_type;", "    u32    ksym_type;",
	 M + "width:PERF_RECORD_KSYMBOL.ksym_type"),
	("drop a structure", r"\.EX\nstruct \{\n    struct perf_event_header header;\n    u64    lost;.*?\.EE\n",
	 "", "page-layout:PERF_RECORD_LOST_SAMPLES"),
	("drop a part of a sample", r"^    u64    phys_addr;.*?\n", "",
	 M + "missing:PERF_RECORD_SAMPLE.phys_addr"),
	("swap parts of a sample", r"(    u64    time;        /\* if.*?\n)(    u64    addr;        /\* if.*?\n)",
	 r"\2\1", M + "order:PERF_RECORD_SAMPLE.*"),
	("a part with another bit", r"(u64    transaction; /\* if )PERF_SAMPLE_TRANSACTION",
	 r"\1PERF_SAMPLE_DATA_SRC", M + "when:PERF_RECORD_SAMPLE.transaction"),
	("a part of another size", r"u32    size;        /\* if PERF_SAMPLE_RAW",
	 "u64    size;        /* if PERF_SAMPLE_RAW", M + "width:PERF_RECORD_SAMPLE.size"),
	("drop from sample_id", r"^    \{ u64 stream_id;\}.*?\n", "", M + "missing:sample_id.stream_id"),
	("a bit of sample_id", r"\{ u32 cpu, res; \}   /\* if PERF_SAMPLE_CPU",
	 "{ u32 cpu, res; }   /* if PERF_SAMPLE_TID", M + "when:sample_id.cpu"),
	("drop from a read", r"^    u64 time_running;.*?\n", "", M + "missing:read_format.time_running"),
	("a bit of a read", r"u64 lost;          /\* if PERF_FORMAT_LOST",
	 "u64 lost;          /* if PERF_FORMAT_ID", M + "when:read_format.lost"),
	("swap in a read", r"(        u64 value;.*?\n)(        u64 id;.*?\n)", r"\2\1",
	 M + "order:read_format.*"),
	("narrow a weight", r"^        u16  var2_w;", "        u32  var2_w;",
	 M + "width:perf_sample_weight.var2_w"),
	("narrow a query", r"^    __u32    prog_cnt;", "    __u16    prog_cnt;",
	 M + "width:perf_event_query_bpf.prog_cnt"),
	("swap the header", r"(    __u16   misc;\n)(    __u16   size;\n)", r"\2\1",
	 M + "order:perf_event_header.*"),
	# constants
	("drop an entry", r"^\.TP\n\.BR PERF_SAMPLE_CGROUP .*?(?=^\.TP)", "",
	 "page-undescribed:PERF_SAMPLE_CGROUP page-missing:PERF_SAMPLE_CGROUP"),
	("misspell an entry", r"^\.B PERF_COUNT_HW_BUS_CYCLES", ".B PERF_COUNT_HW_BUS_CYCELS",
	 "page-unknown:PERF_COUNT_HW_BUS_CYCELS"),
	("misspell in the text", r"(with\n\.B )HW_BREAKPOINT_X", r"\1HW_BREAKPOINT_EX",
	 "page-unknown:HW_BREAKPOINT_EX"),
	("misspell in a comment", r"/\* if PERF_SAMPLE_CGROUP \*/", "/* if PERF_SAMPLE_CGRUOP */",
	 "page-unknown:PERF_SAMPLE_CGRUOP"),
	("drop a prefix", r"(has\n\.BR? |\.B )PERF_SAMPLE_CALLCHAIN", r"\1SAMPLE_CALLCHAIN",
	 "page-unknown:SAMPLE_CALLCHAIN"),
	("a release in bold", r"\.BR (PERF_SAMPLE_CGROUP \" \(since)", r".B \1",
	 "page-markup:PERF_SAMPLE_CGROUP"),
	("another release", r"(PERF_SAMPLE_WEIGHT_STRUCT \" \(since Linux) 5.12", r"\1 5.11",
	 "page-since:PERF_SAMPLE_WEIGHT_STRUCT"),
	("another release of a member", r"(comm_exec \" \(since Linux) 3.16", r"\1 3.15",
	 "page-since:*.comm_exec"),
	("another release of an ioctl", r"(PERF_EVENT_IOC_SET_BPF \" \(since Linux) 4.1", r"\1 4.2",
	 "page-since:PERF_EVENT_IOC_SET_BPF"),
	("another release of a record", r"(PERF_RECORD_AUX \" \(since Linux) 4.1", r"\1 4.0",
	 "page-since:PERF_RECORD_AUX"),
	("no release", r"(PERF_SAMPLE_BRANCH_COND) \" \(since Linux 3.16\)\"", r"\1",
	 "page-undated:PERF_SAMPLE_BRANCH_COND"),
	("another size", r"(PERF_ATTR_SIZE_VER2\nis) 80", r"\1 88", "page-value:PERF_ATTR_SIZE_VER2"),
	("another size's release", r"addition of branch sampling in Linux 3.4",
	 "addition of branch sampling in Linux 3.5", "page-since:PERF_ATTR_SIZE_VER2"),
	("another index", r"USER_NS_INDEX = 4", "USER_NS_INDEX = 5", "page-value:USER_NS_INDEX"),
	("another length", r"is defined as 8", "is defined as 16", "page-value:BPF_TAG_SIZE"),
	("drop an ioctl", r"^\.TP\n\.BR PERF_EVENT_IOC_ID .*?(?=^\.TP)", "",
	 "page-missing:PERF_EVENT_IOC_ID"),
	("misspell an ioctl", r"^\.BR PERF_EVENT_IOC_PAUSE_OUTPUT", ".BR PERF_EVENT_IOC_PAUS_OUTPUT",
	 "page-unknown:PERF_EVENT_IOC_PAUS_OUTPUT"),
	("drop a flag of an argument", r"^\.TP\n\.BR PERF_FLAG_PID_CGROUP .*?(?=^\.PP)", "",
	 "page-undescribed:PERF_FLAG_PID_CGROUP"),
	("drop a member's entry", r"^\.TP\n\.I exclude_idle\n.*?(?=^\.TP)", "",
	 "page-undescribed:*.exclude_idle"),
	("drop an entry of data_src", r"^\.TP\n\.B PERF_MEM_TLB_WK\nHardware walker\n", "",
	 "page-missing:PERF_MEM_TLB_WK"),
	("drop the tag of an entry", r"^\.TP\n(\.BR PERF_SAMPLE_BRANCH_IN_TX)", r"\1",
	 "page-markup:PERF_SAMPLE_BRANCH_IN_TX"),
	# widths in prose
	("a width in the text", r"then a 32-bit process ID", "then a 16-bit process ID",
	 "page-bits-said:pid"),
	("a width in the text of one", r"the 64-bit physical address", "the 32-bit physical address",
	 "page-bits-said:phys_addr"),
	# signs
	("a signed member", r"^    __u64 sample_regs_user;", "    __s64 sample_regs_user;",
	 M + "sign:perf_event_attr.sample_regs_user"),
	("an unsigned one", r"^    __s64 offset;", "    __u64 offset;",
	 M + "sign:perf_event_mmap_page.offset"),
	("a signed part of a record", r"^    u64    lost;", "    s64    lost;",
	 M + "sign:PERF_RECORD_LOST*.lost"),
	# examples
	("a newline in a message", r'^       fprintf\(stderr, "Error opening', '       warn("Error opening',
	 "page-example-message:perf_event_open.c"),
	# errors
	("swap two errors", r"^\.B E2BIG\n(.*?)^\.B EACCES\n", r".B EACCES\n\1.B E2BIG\n",
	 "page-errno-cases:E2BIG page-errno-wrong:*"),
	("an error of another", r"^\.B EMFILE\n", ".B ENODEV\n", "page-errno-missing:EMFILE"),
	("drop an error", r"^\.TP\n\.B EBADF\n.*?(?=^\.TP)", "", "page-errno-missing:EBADF"),
	("an error that none is", r"^\.B ESRCH\n", ".B ESRHC\n",
	 "page-errno-unknown:ESRHC"),
	("an error that is not one of it", r"^\.B ESRCH\n", ".B EXDEV\n", "page-errno-unknown:EXDEV"),
	("an error's release", r"EOVERFLOW \" \(since Linux 4.8\)", r'EOVERFLOW " (since Linux 4.7)',
	 "page-since:EOVERFLOW"),
	("what an error is about", r"(Returned if\n\.B PERF_SAMPLE_STACK_USER\nis set in\n\.I )sample_type",
	 r"\1sample_period", "page-errno-wrong:ENOSYS.sample_period"),
	("a case of an error", r"\.I sample_freq\nis higher than the maximum setting;\n", "",
	 "page-errno-cases:EINVAL"),
]

# Changes of the page's example, and what is found when it is run.
EXAMPLE_EDITS = [
	("not declared", r"^    int +fd;\n", "", "cannot be compiled"),
	("a warning", r"^    long long +count;", "    int count;", "cannot be compiled"),
	("no end", r'^    printf\("Measuring', '    for (;;); printf("Measuring', "does not end"),
	("a crash", r'^    printf\("Measuring', '    *(volatile int *)0 = 1; printf("Measuring',
	 "is killed by SIGSEGV"),
	("no count", r"PERF_EVENT_IOC_ENABLE, 0", "PERF_EVENT_IOC_DISABLE, 0", "does not print"),
	("a message", r"^    close\(fd\);", '    close(fd); fputs("no", stderr);',
	 "writes to standard error"),
]

H = "header-"
HEADER_EDITS = [
	("a value", r"PERF_TYPE_RAW\t*= 4", "PERF_TYPE_RAW = 40", H + "value:PERF_TYPE_RAW"),
	("a bit", r"(PERF_SAMPLE_ADDR\t*= 1U << )3", r"\g<1>30", H + "value:PERF_SAMPLE_ADDR"),
	("two values", r"(PERF_RECORD_MISC_USER\t*\()2", r"\g<1>3", H + "value:PERF_RECORD_MISC_USER"),
	("drop an enumerator", r"\tPERF_COUNT_HW_CACHE_BPU\t*= 5,\n", "",
	 H + "missing:PERF_COUNT_HW_CACHE_BPU"),
	("drop a macro", r"#define PERF_FLAG_PID_CGROUP.*?\n", "", H + "missing:PERF_FLAG_PID_CGROUP"),
	("drop an ioctl", r"#define PERF_EVENT_IOC_ID.*?\n", "", H + "missing:PERF_EVENT_IOC_ID"),
	("an ioctl's number", r"(PERF_EVENT_IOC_RESET\t*_IO *\('\$', )3", r"\g<1>13",
	 H + "value:PERF_EVENT_IOC_RESET"),
	("an ioctl's argument", r"(PERF_EVENT_IOC_PERIOD\t*_IOW ?\('\$', 4, )__u64", r"\1__u32",
	 H + "value:PERF_EVENT_IOC_PERIOD"),
	("an enumerator's name", r"PERF_SAMPLE_PERIOD\t", "PERF_SAMPLE_PERIODS\t",
	 H + "unknown:PERF_SAMPLE_PERIODS"),
	("a new enumerator", r"(PERF_FORMAT_LOST\t*= 1U << 4,)", r"\1 PERF_FORMAT_NOVEL = 1U << 5,",
	 H + "unknown:PERF_FORMAT_NOVEL"),
	("a new macro", r"(#define PERF_FLAG_FD_CLOEXEC)", r"#define PERF_FLAG_NOVEL 16\n\1",
	 H + "unknown:PERF_FLAG_NOVEL"),
	("drop a member", r"^\t__u64\s+read_format;\n", "", H + "member-missing:*.read_format"),
	("drop a bit", r"^\t*pinned\s*:  1,.*?\n", "", H + "member-missing:*.pinned"),
	("widen a member", r"^\t__u16\tsample_max_stack;", "\t__u32\tsample_max_stack;",
	 H + "member-width:*.sample_max_stack"),
	("widen a bit", r"precise_ip     :  2,", "precise_ip     :  3,", H + "member-width:*.precise_ip"),
	("swap bits", r"(\t*exclude_user   :  1,.*?\n)(\t*exclude_kernel :  1,.*?\n)", r"\2\1",
	 H + "member-order:*"),
	("move by a hole", r"^\t__u32\taux_sample_size;", "\t__u32\taux_sample_size __attribute__((aligned(32)));",
	 H + "member-place:*.aux_sample_size"),
	("a new member", r"^(\t__u64\tsig_data;)", r"\1\n\t__u64\tsig_more;", H + "member-unknown:*.sig_more header-member-name:*.config3"),
	("a member's name", r"^\t__u64\s+data_head;", "\t__u64\tdate_head;", H + "member-name:*.data_head"),
	("a sign", r"^\t__s64\toffset;", "\t__u64\toffset;", H + "member-sign:*.offset"),
	("a word in a comment", r"(PERF_TXN_ABORT_SHIFT\s*= )32", r"\g<1>31",
	 H + "value:PERF_TXN_ABORT_SHIFT"),
	("a wide value", r"(PERF_TXN_ABORT_MASK\s*= \(0xf)f+ULL", r"\1ULL",
	 H + "value:PERF_TXN_ABORT_MASK"),
	("a negative value", r"PERF_CONTEXT_HV\t*= \(__u64\)-32", "PERF_CONTEXT_HV = (__u64)-33",
	 H + "value:PERF_CONTEXT_HV"),
]
